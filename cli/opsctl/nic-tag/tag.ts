// Shared by the NIC tag verbs: finding and printing a tag.
import type { NicTag } from "../../../src/contract/external-network.ts";
import type { Io } from "../../internal/io.ts";
import { blockText } from "../../internal/table.ts";
import { findRecord, named } from "../../internal/record-name.ts";

export const TAGS_PATH = "/v1/system/nic-tags";
export const TAG_ARGUMENT = ["<nic-tag>", "UUID, unique UUID prefix or name"] as const;

export async function findTag(io: Io, name: string): Promise<NicTag> {
  return await findRecord(io, name, { path: TAGS_PATH, kind: named<NicTag>("NIC tag", "opsctl nic-tag list") });
}

export function tagText(tag: NicTag): string {
  return blockText([
    ["id", tag.id],
    ["name", tag.name],
    ["description", tag.description],
    ["mtu", tag.mtu],
    ["created_at", tag.created_at],
  ]);
}
