// Defines a failure of a job with a sentence for the tenant, and a detail that only operators see.
import { EXIT } from "../cli/internal/exit-code.ts";
import { Failure } from "../cli/internal/failure.ts";

export class DetailedFailure extends Failure {
  constructor(message: string, readonly detail: string) {
    super(message, EXIT.failure);
  }
}
