// Defines the error of a simulated loss of power, at which the agent ends at once, without reports or cleanup.
import { EXIT } from "../cli/internal/exit-code.ts";
import { Failure } from "../cli/internal/failure.ts";

export class PowerLost extends Failure {
  constructor(at: string) {
    super(`the machine lost power at ${at}`, EXIT.failure);
  }
}
