// The parts of a program that the image verbs use.
import type { Io } from "../internal/io.ts";
import type { withIo } from "../internal/run.ts";

export type Host = {
  readonly withIo: typeof withIo;
  /** The environment variable with the index. */
  readonly index_variable: string;
  /** Returns the control plane's address, which serves the default index. */
  endpoint(io: Io): Promise<string>;
};
