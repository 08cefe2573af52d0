// Entry point: defines the elements of the list and of a session; index.html contains `x-app`. Other pages: pages.ts.
import "./fleet/fleet.ts";
import "./main-app.ts";
import "./session/session.ts";
