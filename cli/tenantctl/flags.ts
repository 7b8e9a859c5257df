// Defines the global flags, which are accepted before or after any subcommand.
import type { Globals } from "../internal/connection.ts";

export type Flags = Globals & { readonly tenant?: string; readonly project?: string };
