/** What an operator sets whose images or issuers are on this machine, as they are in tests: loopback is never public. */
export const LOOPBACK_ALLOWED = { BERTH_FETCH_ALLOWED_PRIVATE: '["127.0.0.0/8"]' } as const;
