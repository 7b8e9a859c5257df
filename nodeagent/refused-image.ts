// Defines the failure for an image that was fetched and verified, but cannot be used. Tenants see the message, because
// it describes only their image.
import { EXIT } from "../cli/internal/exit-code.ts";
import { Failure } from "../cli/internal/failure.ts";

export class RefusedImage extends Failure {
  constructor(why: string) {
    super(`the image cannot be used: ${why}`, EXIT.failure);
  }
}
