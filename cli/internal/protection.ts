// Explains why a protected instance is not deleted or rebuilt. `delete` and `rebuild` never remove the protection
// themselves: the user must first remove it, by a separate command.
import { EXIT } from "./exit-code.ts";
import { Failure, reworded } from "./failure.ts";

const PROTECTED_CODE = "DeletionProtected";
/** The server's message after the name of the instance. */
const SERVER_TEXT = " is protected against deletion; set deletion_protection to false first";

/** Returns the failure for a protected instance, for a verb that checks the instance before its requests. */
export function protectedFailure(name: string): Failure {
  return new Failure(protectedText(name), EXIT.conflict, { error_code: PROTECTED_CODE });
}

/** Returns the failure. If the instance is protected, the message names the command that removes the protection. */
export function withProtectionHint(failure: Failure): Failure {
  return failure.error_code === PROTECTED_CODE ? reworded(failure, withRemedy(failure.message)) : failure;
}

/** Returns the server's message with the command that removes the protection. */
function withRemedy(message: string): string {
  const at = message.indexOf(SERVER_TEXT);
  return at < 0 ? message : protectedText(message.slice(0, at)) + message.slice(at + SERVER_TEXT.length);
}

function protectedText(name: string): string {
  return `${name} is protected against deletion; first run: tenantctl instance update ${name} --protection off`;
}
