// Lists the documented transitions of a node: event, from state, to state (docs/nodes.md, "States"). Update this list
// from the specification, never from the code.

type Step = readonly [event: string, from: string, to: string];

const EVERY = ["pending", "approved", "disabled", "awaiting_setup", "setting_up"] as const;

/** Returns the transitions of an event that does not change the state of a node. */
const staysWith = (event: string, states: readonly string[] = EVERY): Step[] =>
  states.map((state) => [event, state, state]);

export const PUBLISHED_STEPS: readonly Step[] = [
  ["register", "absent", "pending"],
  ["register", "absent", "approved"],
  ["register", "disabled", "pending"],
  ...staysWith("register", ["pending", "approved", "awaiting_setup", "setting_up"]),
  // The transitions of registrations since claims became separate records. The transitions above were written by
  // release 0.1.0.
  ["join", "absent", "approved"],
  ["claimed", "absent", "pending"],
  ["claimed", "disabled", "pending"],
  ["last_claim_ended", "pending", "absent"],
  ["last_claim_ended", "pending", "disabled"],
  ...staysWith("refresh", ["approved", "awaiting_setup", "setting_up"]),
  ["approve", "pending", "approved"],
  ["approve", "approved", "approved"],
  ["announce", "pending", "awaiting_setup"],
  ["announce", "absent", "awaiting_setup"],
  ...staysWith("announce"),
  // An announcement during a setup means that the machine was started again, from another booter.
  ["announce", "setting_up", "awaiting_setup"],
  ["approve_setup", "awaiting_setup", "setting_up"],
  ...staysWith("take_bundle", ["setting_up"]),
  ...["setup_delivered", "hand_over_bundle", "setup_progressed"].flatMap((event) => staysWith(event, ["setting_up"])),
  ["setup_completed", "setting_up", "approved"],
  ["setup_failed", "setting_up", "awaiting_setup"],
  ["revert_setup", "setting_up", "awaiting_setup"],
  ["tick", "setting_up", "awaiting_setup"],
  ...staysWith("tick", ["approved"]),
  ["disable", "pending", "disabled"],
  ["disable", "approved", "disabled"],
  ["disable", "disabled", "disabled"],
  ["enable", "disabled", "approved"],
  ["enable", "approved", "approved"],
  ["factory_reset", "approved", "awaiting_setup"],
  ["factory_reset", "disabled", "awaiting_setup"],
  ["remove", "pending", "absent"],
  ["remove", "disabled", "absent"],
  ["remove", "awaiting_setup", "absent"],
  ...staysWith("key_deleted", ["pending", "disabled"]),
  ...staysWith("key_used", ["approved", "disabled", "setting_up"]),
  ...["drain", "evacuate", "upgrade"].flatMap((event) => staysWith(event, ["approved"])),
  ...["set_role", "set_underlay", "set_reservoir", "set_traits", "set_placement", "set_root_password"].flatMap((
    event,
  ) => staysWith(event)),
];
