// Runs the node agent with a wrong wall clock. The compiled agent ignores BUN_OPTIONS, so this entry file includes the
// wrong clock.
import "./wrong-clock.ts";
import "../../../nodeagent/main.ts";
