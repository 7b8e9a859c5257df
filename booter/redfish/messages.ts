// Reads the messages of a Redfish answer.
import type { BmcAnswer } from "./wire.ts";

/** The largest number of characters of a BMC's text in an error message. */
const TEXT_CHARS_MAX = 512;
/** MessageIds that do not mean a failure. */
const GOOD = /(^|\.)(Success|Created|Accepted|NoOperation|TaskStarted|\w*ResetRequired|ResetInProgress)$/i;

export type Message = { readonly id: string; readonly text: string; readonly good: boolean };

/** Returns the messages of @Message.ExtendedInfo, or the error's own message. */
export function messagesOf(body: BmcAnswer["body"]): Message[] {
  const error = bagOf(body.error ?? body);
  const info = error["@Message.ExtendedInfo"];
  const listed = (Array.isArray(info) ? info : []).map((each) => message(bagOf(each)));
  const told = listed.filter(({ text }) => text !== "");
  if (told.length > 0) return told;
  const own = typeof error.message === "string" ? error.message : "";
  return own === "" ? [] : [{ id: typeof error.code === "string" ? error.code : "", text: plain(own), good: false }];
}

/** Returns all messages as one line. */
export function textOf(messages: readonly Message[]): string {
  return messages.map(({ text }) => text).join("; ").slice(0, TEXT_CHARS_MAX);
}

function message(info: Readonly<Record<string, unknown>>): Message {
  const id = typeof info.MessageId === "string" ? plain(info.MessageId) : "";
  const severity = info.MessageSeverity ?? info.Severity;
  const good = GOOD.test(id) || severity === "OK";
  const given = typeof info.Message === "string" ? plain(info.Message) : "";
  return { id, text: given === "" ? spelled(id, info.MessageArgs) : given, good };
}

/**
 * Converts a MessageId to words, because iLO sends no text: `iLO.2.14.InvalidOperationForSystemState` becomes
 * "invalid operation for system state (iLO.2.14.InvalidOperationForSystemState)".
 */
function spelled(id: string, args: unknown): string {
  if (id === "") return "";
  const words = (id.split(".").at(-1) ?? id).replace(/([a-z0-9])([A-Z])/g, "$1 $2").toLowerCase();
  const values = Array.isArray(args) && args.length > 0 ? `: ${plain(args.map(String).join(", "))}` : "";
  return `${words}${values} (${id})`;
}

function plain(text: string): string {
  return text.replace(/\p{Cc}+/gu, " ").slice(0, TEXT_CHARS_MAX);
}

export function bagOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? value as Readonly<Record<string, unknown>>
    : {};
}

/** Returns the path of a link to another resource, or null. */
export function linkOf(value: unknown): string | null {
  const link = bagOf(value)["@odata.id"];
  return typeof link === "string" && link.startsWith("/") && !link.startsWith("//") ? link : null;
}
