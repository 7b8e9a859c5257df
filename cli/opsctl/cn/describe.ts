// Shows a node with its instances and its newest events.
import type { SystemInstance } from "../../../src/contract/instance.ts";
import type { DescribedNoun } from "../../internal/describe.ts";
import { section } from "../../internal/describe.ts";
import type { Io } from "../../internal/io.ts";
import { withIo } from "../../internal/run.ts";
import { INSTANCE_COLUMNS, SYSTEM_INSTANCES_PATH } from "../instance/instance.ts";
import { findNode, NODE_ARGUMENT, resolveNode } from "../node-name.ts";
import { nodeBlock } from "./node.ts";

const COLUMNS = INSTANCE_COLUMNS.filter(([title]) => title !== "HOST");

export const DESCRIBED_NODE: DescribedNoun<Io> = {
  noun: "a compute node",
  argument: NODE_ARGUMENT,
  example: "cn-17",
  withIo,
  resolve: async (io, name) => ({ scope: "cn", id: await resolveNode(io, name) }),
  describe: async (io, name) => {
    const node = await findNode(io, name);
    const instances = await io.all<SystemInstance>(SYSTEM_INSTANCES_PATH, { cn: node.server_uuid });
    return {
      answer: { ...node, instances },
      text: `${nodeBlock(node)}\n\n${section(io, "instances", COLUMNS, instances)}`,
      subject: { scope: "cn", id: node.server_uuid },
    };
  },
};
