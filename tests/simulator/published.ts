// Contains the published state tables (docs/nodes.md, docs/tenancy.md), copied by hand and independent of the code
// under test.

type Edges = Readonly<Record<string, readonly string[]>>;

/** The allowed transitions "from>to" by actor kind and event. Events that the log never contains are left out. */
export const EDGES: Readonly<Record<string, Edges>> = {
  cn: {
    // A new node is approved if an auto-approve window is open. Otherwise its claim makes it pending. A claim also
    // makes a disabled node pending.
    join: ["absent>approved"],
    claimed: ["absent>pending", "disabled>pending"],
    // When the last claim of a pending node ends, the record of a new node is removed. A node that was disabled before
    // is disabled again.
    last_claim_ended: ["pending>absent", "pending>disabled"],
    refresh: ["approved>approved"],
    // Approving an approved node that was reinstalled replaces its key.
    approve: ["pending>approved", "approved>approved"],
    disable: ["pending>disabled", "approved>disabled", "disabled>disabled"],
    enable: ["disabled>approved", "approved>approved"],
    remove: ["pending>absent", "disabled>absent"],
    set_role: ["pending>pending", "approved>approved", "disabled>disabled"],
    // The first use of a key erases the sealed copy of the key. In a simulation, only approved nodes have such a copy,
    // because disabling also erases the copy.
    key_used: ["approved>approved"],
  },
  "enrolment-claim": {
    register: ["absent>live"],
    renew: ["live>live"],
    approve: ["live>absent"],
    tick: ["live>absent"],
  },
  site: {
    open_window: ["absent>window_open", "window_closed>window_open", "window_open>window_open"],
    close_window: ["window_open>window_closed"],
    tick: ["window_open>window_closed"],
  },
  "api-key": { create: ["absent>live"], revoke: ["live>absent"] },
  // Not published: the kind of tests/engine/probe.ts.
  lamp: {
    make: ["absent>off"],
    switch_on: ["off>on"],
    switch_off: ["on>off"],
    hold: ["off>off", "on>on"],
    guarded: ["off>off", "on>on"],
    draw: ["off>off", "on>on"],
    refund: ["off>off", "on>on"],
    plug: ["off>off", "on>on"],
    smash: ["off>absent"],
    tick: ["on>off"],
  },
  // Not published: the lamps of errand.ts.
  "errand-lamp": { make: ["absent>off"], guarded: ["off>off"] },
  saga: {
    start: ["absent>running"],
    tick: ["running>running", "running>succeeded", "running>unwinding", "unwinding>unwinding", "unwinding>unwound"],
    job_ended: ["running>running", "running>succeeded", "running>unwinding", "running>unwound"],
    abandon: ["running>unwinding", "running>unwound"],
  },
  job: {
    enqueue: ["absent>pending"],
    claim: ["pending>in_progress"],
    complete: ["in_progress>completed"],
    fail: ["in_progress>failed"],
    cancel: ["pending>cancelled", "in_progress>cancelled"],
    tick: ["in_progress>failed"],
  },
};

/** The audit action of each audited event. A key that ends in "to <state>" covers only transitions to this state. */
export const AUDITED: Readonly<Record<string, string>> = {
  "cn join": "agent_register",
  "cn refresh": "agent_register",
  "cn claimed": "cn_claimed",
  "cn last_claim_ended": "cn_claims_expired",
  "enrolment-claim register": "agent_register",
  "enrolment-claim renew": "agent_register",
  "cn approve": "cn_approve",
  "cn disable": "cn_disable",
  "cn enable": "cn_enable",
  "cn remove": "cn_remove",
  "cn set_role": "cn_set_role",
  "site open_window": "auto_approve_set",
  "site close_window": "auto_approve_clear",
  "api-key create": "create_api_key",
  "api-key revoke": "delete_api_key",
  "api-key expire": "delete_api_key",
  "saga abandon": "operations_abandon",
  "lamp make": "lamp_make",
  "errand-lamp make": "lamp_make",
  "job claim": "agent_claim",
  "job complete": "agent_complete",
  "job fail": "agent_complete",
  "job bury": "agent_bury",
  "job tick to failed": "job_expire",
};

/** Events that no client requests: timers, tells, and the messages that they cause. */
export const UNSENT: ReadonlySet<string> = new Set([
  "site tick",
  "enrolment-claim tick",
  "cn last_claim_ended",
  "saga tick",
  "lamp tick",
  "errand-lamp make",
  "errand-lamp guarded",
  "job tick",
  "saga job_ended",
  "job enqueue",
]);
