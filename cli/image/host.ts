// Defines the parameters that an executable passes to the image verbs.
import type { Io } from "../internal/io.ts";
import type { withIo } from "../internal/run.ts";

export type Host = {
  readonly withIo: typeof withIo;
  /** Name of the environment variable with the address of the index. */
  readonly index_variable: string;
  /** Returns the control plane's address, the default index. */
  endpoint(io: Io): Promise<string>;
};
