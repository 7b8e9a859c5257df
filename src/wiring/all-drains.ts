// Connects the background workers for drains of single nodes, for drains by label, and for upgrades.
import type { Engine } from "../../actors/engine/engine.ts";
import type { Ports } from "../../actors/engine/ports.ts";
import type { RouteDeps } from "../routes/deps.ts";
import { createNodeDrains } from "./drains.ts";
import { createLabelDrainsOfServer } from "./label-drains.ts";
import { createUpgradesOfServer } from "./upgrades.ts";

type Deps = Pick<RouteDeps, "kysely" | "byKey" | "nodesToPlace" | "settings">;

export function createDrainsOfServer(deps: Deps, engine: Pick<Engine, "send">, ports: Pick<Ports, "report">) {
  const byLabel = createLabelDrainsOfServer(deps, engine, ports);
  const upgrades = createUpgradesOfServer(deps, engine, ports);
  const ofNodes = createNodeDrains(deps, engine, ports);
  return {
    start: () => {
      upgrades.start();
      byLabel.start();
      ofNodes.start();
    },
    stop: async () => void await Promise.all([upgrades.stop(), byLabel.stop(), ofNodes.stop()]),
    pass: async () => {
      await upgrades.pass();
      await byLabel.pass();
      await ofNodes.pass();
    },
  };
}
