/** Returns a boot record in the form that the control plane sends. `changes` replaces whole fields. */
export function factsOf(changes: Record<string, unknown> = {}) {
  return {
    mac: "52:54:00:aa:00:01",
    state: "enrolling",
    address: "10.0.0.10",
    networking: {
      address: "10.0.0.10",
      prefix_len: 24,
      gateway: "10.0.0.254",
      resolvers: ["10.0.0.2", "10.0.0.3"],
      hostname: null,
      nic_tags: [],
    },
    provenance: { source: "booter", first_seen_at: "2026-01-01T00:00:00Z", first_seen_by: "key" },
    server_uuid: null,
    assigned_pi: null,
    rescue: false,
    hostname: null,
    created_at: "2026-01-01T00:00:00Z",
    updated_at: "2026-01-01T00:00:00Z",
    ...changes,
  };
}
