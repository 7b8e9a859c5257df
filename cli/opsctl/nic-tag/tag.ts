// Defines how commands list, find and print NIC tags.
import type { NicTag } from "../../../src/contract/external-network.ts";
import type { Io } from "../../internal/io.ts";
import { AGE_COLUMN, ID_COLUMN, WIDE_COLUMN } from "../../internal/table.ts";
import { findRecord, named, titleOf } from "../../internal/record-name.ts";
import type { Kind } from "../record/kind.ts";

export const TAGS_PATH = "/v1/system/nic-tags";

export async function findTag(io: Io, name: string): Promise<NicTag> {
  return await findRecord(io, name, { path: TAGS_PATH, kind: named<NicTag>("NIC tag", "opsctl nic-tag list") });
}

export const NIC_TAG: Kind<NicTag> = {
  one: "NIC tag",
  many: "NIC tags",
  argument: ["<nic-tag>", "UUID, unique UUID prefix or name"],
  sample: "external",
  summaries: { list: "List NIC tags", delete: "Delete a NIC tag that no external subnet uses" },
  columns: [
    ["NAME", (tag) => tag.name],
    ["ID", (tag) => tag.id, ID_COLUMN],
    ["MTU", (tag) => tag.mtu],
    ["AGE", (tag) => tag.created_at, AGE_COLUMN],
    ["CREATED_AT", (tag) => tag.created_at, WIDE_COLUMN],
    ["DESCRIPTION", (tag) => tag.description],
  ],
  lines: (tag) => [
    ["id", tag.id],
    ["name", tag.name],
    ["description", tag.description],
    ["mtu", tag.mtu],
    ["created_at", tag.created_at],
  ],
  all: (io) => io.all<NicTag>(TAGS_PATH),
  find: findTag,
  record: (tag) => tag,
  path: ({ id }) => `${TAGS_PATH}/${id}`,
  title: titleOf,
};
