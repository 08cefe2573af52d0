"""What the client can do, each in a few lines. Run: python3 examples.py [NAME…]

The agent is the built-in demo, which needs no account; set AGENT=claude for a real one.
"""

import os
import sys
from typing import Callable, Dict

from blemees import BlemeesError, Client

AGENT = os.environ.get("AGENT", "demo")


def one_turn(client: Client) -> None:
    session = client.spawn(AGENT)
    print(session.ask("use a tool").text)


def stream(client: Client) -> None:
    session = client.spawn(AGENT, "hello")
    for event in session.events(since_seq=0):
        if event["type"] == "agent.delta" and event.get("kind") == "text":
            print(event["text"], end="", flush=True)
        if event["type"] == "agent.result":
            print()
            return


def approve(client: Client) -> None:
    session = client.spawn(AGENT, "approve", name="cleaner")
    turn = session.turn()
    while turn.result == "blocked":
        for request in session.requests():
            print("allowed:", request["payload"]["title"])
            client.respond(request, "accept")
        turn = session.turn()
    print(turn.text)


def three_at_once(client: Client) -> None:
    sessions = [client.spawn(AGENT, f"say {number}", labels=["three"]) for number in (1, 2, 3)]
    for session in sessions:
        session.turn()
    print([view["turns"] for view in client.sessions(label="three")])


def mistakes(client: Client) -> None:
    try:
        client.session("nothing").view()
    except BlemeesError as error:
        print(f"{error.code}: {error}")


EXAMPLES: Dict[str, Callable[[Client], None]] = {
    example.__name__: example for example in (one_turn, stream, approve, three_at_once, mistakes)
}

if __name__ == "__main__":
    for name in sys.argv[1:] or EXAMPLES:
        print(f"# {name}")
        EXAMPLES[name](Client())
