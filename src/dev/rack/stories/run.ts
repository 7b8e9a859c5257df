// Runs a story by its name.
import { say } from "../report.ts";
import { kills } from "./kills.ts";
import { move } from "./move.ts";
import { nodes } from "./nodes.ts";
import { powerCut } from "./power-cut.ts";
import { tenant } from "./tenant.ts";
import type { Story } from "./stories.ts";

export async function runStory(name: Story, stamp: string): Promise<void> {
  say(`story: ${name}`);
  switch (name) {
    case "nodes":
      return await nodes(stamp);
    case "tenant":
      return await tenant();
    case "move":
      return await move();
    case "power-cut":
      return await powerCut();
    case "kills":
      return await kills();
  }
}
