// fetch for the servers reached over HTTP: what they send is counted, and too much of it ends the connection.
import { MAX_MESSAGE_BYTES } from "./stdio.ts";

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** `onTooLarge` is called once per answer that is too large; its body then ends with an error. */
export function createLimitedFetch(onTooLarge: (fault: string) => void, maxBytes = MAX_MESSAGE_BYTES): Fetch {
  return async (url, init) => {
    const response = await fetch(url, init);
    if (response.body === null) return response;
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
    let bytes = 0;
    const limit = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        // In a stream each event is a message, and there is no limit on their number.
        const end = isStream ? findEventEnd(chunk) : -1;
        bytes = end === -1 ? bytes + chunk.length : chunk.length - end;
        if (bytes <= maxBytes) return controller.enqueue(chunk);
        const fault = `it sent a message of more than ${maxBytes / 1024 ** 2} MiB`;
        controller.error(new Error(fault));
        onTooLarge(fault);
      },
    });
    const { status, statusText, headers } = response;
    return new Response(response.body.pipeThrough(limit), { status, statusText, headers });
  };
}

/** -1: the chunk ends no event. */
function findEventEnd(chunk: Uint8Array): number {
  const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  return Math.max(bytes.lastIndexOf("\n\n"), bytes.lastIndexOf("\r\n\r\n"));
}
