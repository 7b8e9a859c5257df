// Starts the console in the browser.
import { render } from "preact";
import { App } from "./app.tsx";
import { findSession, watchSessions } from "./core/session.ts";

watchSessions();
void findSession();
const root = document.getElementById("app");
if (root !== null) render(<App />, root);
