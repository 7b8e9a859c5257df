// An edit of an object sends only the fields that the user changed. So the edit does not reverse changes that other
// users made while the form was open.
import type { Action, Field, Values } from "./action.ts";

/** Returns the values with which a form opens. */
export function initialValues(fields: readonly Field[]): Values {
  return Object.fromEntries(fields.map(({ name, initial }) => [name, initial ?? ""]));
}

/**
 * Returns the action of an edit. `cli` and `send` of `action` get only the values that the user changed. Without a
 * change there is no command, because the programs refuse an update that changes nothing.
 */
export function editing(action: Action): Action {
  const before = initialValues(action.fields ?? []);
  const changed = (values: Values): Values =>
    Object.fromEntries(Object.entries(values).filter(([name, value]) => value !== before[name]));
  return {
    ...action,
    cli: (values) => {
      const given = changed(values);
      return Object.keys(given).length === 0 ? "" : action.cli(given);
    },
    send: (values, key) => action.send(changed(values), key),
  };
}
