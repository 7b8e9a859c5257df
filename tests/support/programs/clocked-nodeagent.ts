// The node agent with a wrong wall clock. The compiled agent ignores BUN_OPTIONS, so the clock is compiled in.
import "./wrong-clock.ts";
import "../../../nodeagent/main.ts";
