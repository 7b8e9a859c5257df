// Holds the actions of the page that is shown. A page declares its actions once. The buttons, the palette and the
// dialog use this one list, so an action is the same in all of them.
import { signal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";
import { go } from "./router.ts";
import { say } from "./toast.ts";

export type Choice = { readonly value: string; readonly label: string };

export type Field = {
  readonly name: string;
  readonly label: string;
  readonly type?: "text" | "secret" | "number" | "bytes" | "choice" | "lines" | "toggle";
  readonly choices?: readonly Choice[];
  /** Values that a text field offers. The user may enter another value. */
  readonly suggestions?: readonly Choice[];
  readonly isOptional?: boolean;
  /** The label of the empty choice. Default: "none". */
  readonly none?: string;
  readonly initial?: string;
  readonly hint?: string;
  /** The text that the user must type to confirm an action that destroys data. */
  readonly mustBe?: string;
};

/** The values of a form, by the names of its fields. A toggle has "true" or "". */
export type Values = Readonly<Record<string, string>>;

export type Action = {
  /** A verb in the imperative with its object: "Disable node". */
  readonly title: string;
  /** The key that runs the action, if there is one. */
  readonly key?: string;
  readonly fields?: readonly Field[];
  /** A text that explains what the action changes, and what it leaves unchanged. */
  readonly notice?: string;
  readonly isDangerous?: boolean;
  /** The reason why the action is impossible now. The button is then disabled and shows the reason. */
  readonly refused?: string | null;
  /** Returns the command line that has the same effect as the action; empty if no program has such a command. */
  readonly cli: (values: Values) => string;
  /** Sends the action. Returns a message for the user, and optionally the page to show next. */
  readonly send: (values: Values, key: string) => Promise<Done | void>;
  /** The label of the button that sends the action. The default is the title. */
  readonly button?: string;
};
/** An action that opens a page at once, without a dialog. */
export type Opening = Pick<Action, "title" | "key" | "refused"> & { readonly opens: string };
export type Done = { readonly said?: string; readonly to?: string };

/** The actions of the row that the list's cursor is on. */
export const rowActions = signal<readonly (Action | Opening)[]>([]);
/** The actions of the page that is shown. */
export const pageActions = signal<readonly (Action | Opening)[]>([]);
/** The action whose dialog is open. */
export const running = signal<Action | null>(null);

/** Declares the actions of a page while it is shown. */
export function useActions(actions: readonly (Action | Opening)[]): void {
  useLayoutEffect(() => {
    pageActions.value = actions;
  });
  useLayoutEffect(() => () => void (pageActions.value = []), []);
}

/** Opens the dialog or the page of an action. If the action is impossible now, the user gets the reason. */
export function run(action: Action | Opening): void {
  if (action.refused) return say(action.refused);
  if ("opens" in action) return go(action.opens);
  running.value = action;
}
