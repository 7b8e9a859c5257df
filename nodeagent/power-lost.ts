// The machine is gone in the middle of its work. Nothing is told and nothing is put in order.
import { EXIT } from "../cli/internal/exit-code.ts";
import { Failure } from "../cli/internal/failure.ts";

export class PowerLost extends Failure {
  constructor(at: string) {
    super(`the machine lost its power at ${at}`, EXIT.failure);
  }
}
