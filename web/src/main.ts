// The page begins here: every element is known by its name, and `x-app` of index.html comes to life.
import "./charts/stats.ts";
import "./fleet/fleet.ts";
import "./help/help.ts";
import "./main-app.ts";
import "./session/session.ts";
import "./spawn/spawn.ts";
