// The node agent behind a wall clock that is wrong. The compiled agent ignores BUN_OPTIONS, so the clock is compiled in.
import "./wrong-clock.ts";
import "../../../nodeagent/main.ts";
