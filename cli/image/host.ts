// What the image verbs need from the executable they are part of.
import type { Io } from "../internal/io.ts";
import type { withIo } from "../internal/run.ts";

export type Host = {
  readonly withIo: typeof withIo;
  /** The variable that names the index. */
  readonly index_variable: string;
  /** The control plane's address, for when no index is named. */
  endpoint(io: Io): Promise<string>;
};
