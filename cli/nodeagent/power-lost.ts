// The machine is gone in the middle of its work. Nothing is told and nothing is put in order.
import { EXIT } from "../kit/exit-code.ts";
import { Failure } from "../kit/failure.ts";

export class PowerLost extends Failure {
  constructor(at: string) {
    super(`the machine lost its power at ${at}`, EXIT.failure);
  }
}
