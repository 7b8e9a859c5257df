// Defines the values of the global flags, which are accepted before or after any subcommand (front.ts).
import type { Globals } from "../internal/connection.ts";

export type Flags = Globals & { readonly tenant?: string; readonly project?: string };
