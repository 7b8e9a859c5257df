// Extracts the text of a clear-signed document, and refuses a document in which unsigned text could hide
// (src/lib/openpgp/clear-signed.ts).
import * as frame from "../../src/lib/openpgp/clear-signed.ts";
import { messageOf, unreadable } from "../fault.ts";

/** @throws VendorFault unreadable */
export function clearSignedText(what: string, document: string): string {
  try {
    return frame.clearSignedText(document);
  } catch (error) {
    throw unreadable(what, messageOf(error));
  }
}
