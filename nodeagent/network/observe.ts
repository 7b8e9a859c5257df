// Reads the state of a router from the kernel.
import { observedState } from "./observed-state.ts";
import { OVERLAY_DEVICE } from "./names.ts";
import type { RouterState } from "./router-state.ts";
import type { Run } from "./run.ts";

export async function observeRouter(namespace: string, run: Run): Promise<RouterState> {
  const json = (...words: readonly string[]) => run(["ip", "-n", namespace, "-j", ...words]);
  const [addresses, neighbours, forwardings, rules4, rules6, routes4, routes6] = await Promise.all([
    json("addr"),
    json("neigh", "show", "nud", "permanent"),
    run(["bridge", "-n", namespace, "-j", "fdb", "show", "dev", OVERLAY_DEVICE]),
    json("-4", "rule"),
    json("-6", "rule"),
    json("-4", "route", "show", "table", "all"),
    json("-6", "route", "show", "table", "all"),
  ]);
  return observedState({
    ...{ addresses, neighbours, forwardings },
    rules: { 4: rules4, 6: rules6 },
    routes: { 4: routes4, 6: routes6 },
  });
}
