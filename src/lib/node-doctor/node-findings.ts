// Finds the reasons why a node cannot run new instances. Problems come before warnings.
import { CN_LIVE_S, SETUP_LIMIT_MS } from "../../contract/limits.ts";
import type { Finding } from "../../contract/node-diagnosis.ts";
import { enrolledFindings, enrollingFindings, enrolmentFindings } from "./boot-findings.ts";
import { strangePortFindings } from "./boot-request-findings.ts";
import type { NodeFacts } from "./facts.ts";
import { NO_ADMIN_IP, NO_UNDERLAY_ADDRESS, stops, warns } from "./finding.ts";
import { poolFindings } from "./pool-findings.ts";

/** The last_setup_error after a factory reset (docs/nodes.md, "Leaving"). It does not mean that a setup failed. */
const RESET = "factory reset by operator";
/** A setup without a report for this long has probably stopped. */
const SILENT_SETUP_MS = 10 * 60_000;

/** Lists the problems of a node, then its warnings. */
export function nodeFindings(facts: NodeFacts): Finding[] {
  const found = [
    ...stateFindings(facts),
    ...conflictFindings(facts),
    ...strangePortFindings(facts.strange_ports),
    ...claimFindings(facts),
    ...operationFindings(facts),
  ];
  return found.sort((a, b) => rank(a) - rank(b));
}

function rank({ level }: Finding): number {
  return level === "stops" ? 0 : 1;
}

function stateFindings(facts: NodeFacts): Finding[] {
  switch (facts.node.state) {
    case "pending":
      return pendingFindings(facts);
    case "disabled":
      return disabledFindings(facts);
    case "awaiting_setup":
      return awaitingSetupFindings(facts);
    case "setting_up":
      return settingUpFindings(facts);
    case "approved":
      return approvedFindings(facts);
  }
}

function pendingFindings({ node: { claim_code, claim_code_expires_at: expires_at }, now }: NodeFacts): Finding[] {
  if (claim_code !== null && expires_at !== null && now < new Date(expires_at)) {
    return [stops("it waits for an operator to approve its claim code", `opsctl cn approve ${claim_code}`)];
  }
  return [
    stops(
      "its claim code has expired; the record will be removed soon",
      "restart the node agent on the node; it shows a new code",
    ),
  ];
}

function disabledFindings({ node: { hostname, bound_api_key_id } }: NodeFacts): Finding[] {
  if (bound_api_key_id !== null) return [stops("an operator disabled it", `opsctl cn enable ${hostname}`)];
  return [stops("it is disabled and has no API key", "restart its node agent and approve the new claim code")];
}

function awaitingSetupFindings(facts: NodeFacts): Finding[] {
  const { node, layout_error, site, records, macs_without_record } = facts;
  const { hostname, last_setup_error } = node;
  const found = [stops("it waits for an operator to approve its setup", `opsctl cn setup plan ${hostname}`)];
  if (last_setup_error === RESET) {
    found.push(
      warns("it was reset; approve its setup only after it has booted the enrolment image again", "reboot it"),
    );
  } else if (last_setup_error !== null) {
    found.push(stops(`the last setup failed: ${last_setup_error}`, "fix the cause, then approve the setup again"));
  }
  if (layout_error !== null) found.push(stops(`no disk layout fits: ${layout_error}`));
  found.push(...enrolmentFindings(site), ...records.flatMap((record) => enrollingFindings(record, site)));
  if (records.length === 0) {
    const ports = macs_without_record.length === 0 ? "it announced no network port" : "none of its ports has one";
    found.push(stops(`it has no boot record: ${ports}`, "let it netboot, or: opsctl cn boot authorize <mac>"));
  }
  return found;
}

function settingUpFindings({ node, now }: NodeFacts): Finding[] {
  const { setup_progress: progress, approved_at, hostname } = node;
  const approved_ms = approved_at === null ? now.getTime() : Date.parse(approved_at);
  const left_min = Math.ceil((approved_ms + SETUP_LIMIT_MS - now.getTime()) / 60_000);
  const deadline = left_min > 0 ? `${left_min} min left` : "its time is up, and the setup will be rolled back";
  if (progress === null) {
    const text = `its setup is approved, but the machine has not reported yet (${deadline})`;
    return [stops(text, "check that the machine runs the enrolment image and can reach its booter")];
  }
  const step = `${progress.step}${progress.message === null ? "" : `: ${progress.message}`}`;
  const silent_ms = now.getTime() - Date.parse(progress.updated_at);
  const silence = silent_ms < SILENT_SETUP_MS ? "" : `, silent for ${Math.floor(silent_ms / 60_000)} min`;
  return [stops(`its setup is running: ${step} (${deadline}${silence})`, `opsctl cn show ${hostname}`)];
}

function approvedFindings({ node, placement, records, site, now }: NodeFacts): Finding[] {
  const found: Finding[] = [];
  const agent = "check the node agent on the node, and its network path to the control plane";
  if (node.bound_api_key_id === null) {
    found.push(
      stops(
        "no API key is bound to it: its agent cannot log in",
        `opsctl cn disable ${node.hostname}, then restart the agent`,
      ),
    );
  }
  const silent_s = node.last_seen === null ? null : Math.floor((now.getTime() - Date.parse(node.last_seen)) / 1_000);
  if (silent_s === null) found.push(stops("its agent has never sent a heartbeat", agent));
  else if (silent_s > CN_LIVE_S) found.push(stops(`its agent sent its last heartbeat ${agoText(silent_s)} ago`, agent));
  if (silent_s !== null && node.last_status === null) found.push(stops("its agent has never reported a status", agent));
  found.push(...poolFindings(node.last_status));
  if (placement?.cordoned === true) {
    const why = placement.cordoned_reason === null ? "" : ` (${placement.cordoned_reason})`;
    const mend = `opsctl cn uncordon ${node.hostname}`;
    found.push(stops(`it is cordoned${why}: no new instance is placed on it`, mend));
  }
  if (placement?.reserved === true) {
    const mend = `opsctl cn placement set ${node.hostname} --reserved false`;
    found.push(warns("it is reserved: no new instance is placed on it", mend));
  }
  if (node.role === "edge") {
    const mend = `opsctl cn label set ${node.hostname} --role both`;
    found.push(warns("its role is edge: tenant instances are not placed on it", mend));
  }
  if (node.admin_ip === null) found.push(warns(NO_ADMIN_IP));
  if (node.underlay_address === null) {
    const mend = `opsctl cn underlay set ${node.hostname} --address ADDRESS`;
    found.push(warns(NO_UNDERLAY_ADDRESS, mend));
  }
  found.push(...records.flatMap((record) => enrolledFindings(record, site)));
  return found;
}

function agoText(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7_200 ? `${Math.floor(seconds / 60)} min` : `${Math.floor(seconds / 3_600)} h`;
}

function conflictFindings({ node: { conflict, state } }: NodeFacts): Finding[] {
  if (conflict === null) return [];
  const text = `another machine announced itself with the same server_uuid at ${conflict.announced_at} ` +
    `(${conflict.hostname}, ${conflict.macs.join(" ")})`;
  const mend = "give one of the two boards its own server_uuid; if all ports of this node were replaced, " +
    "remove its record and let it announce itself again";
  return [state === "awaiting_setup" ? stops(text, mend) : warns(text, mend)];
}

/**
 * Lists the claims that an operator must check and that have not expired. For a pending node, these are the claims that
 * differ from its record. For any other node, these are all claims, because a second machine with the node's identity
 * may have made them.
 */
function claimFindings({ node: { claims, state, hostname, server_uuid }, now }: NodeFacts): Finding[] {
  const live = claims.filter(({ claim_code_expires_at: end, differs }) =>
    now < new Date(end) && (state !== "pending" || differs.length > 0)
  );
  return live.map(({ source, differs, hostname: called }) => {
    const how = differs.length === 0
      ? "and reported the same as the node's record"
      : `but its report differs from the node's record in ${differs.join(", ")}`;
    const text = `a machine registered with this node's server_uuid from ${source} (${called}), ${how}`;
    return warns(text, `opsctl cn show ${state === "pending" ? server_uuid : hostname}; approve only a claim you know`);
  });
}

function operationFindings({ operations }: NodeFacts): Finding[] {
  return operations
    .filter(({ state }) => state === "stuck" || state === "unwinding")
    .map(({ id, kind, state, stuck_reason }) => {
      const why = stuck_reason === null ? "" : `: ${stuck_reason}`;
      return warns(`its operation ${kind} is ${state}${why}`, `opsctl operation show ${id}`);
    });
}
