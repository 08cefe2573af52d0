// Entry point: defines all elements; index.html contains `x-app`.
import "./charts/stats.ts";
import "./fleet/fleet.ts";
import "./help/help.ts";
import "./main-app.ts";
import "./session/session.ts";
import "./spawn/spawn.ts";
