// Runs the node agent with a wrong wall clock. A compiled agent ignores BUN_OPTIONS, with which Bun preloads a file. So
// this entry file imports the wrong clock.
import "./wrong-clock.ts";
import "../../../nodeagent/main.ts";
