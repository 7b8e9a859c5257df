/**
 * The variable that permits fetches to 127.0.0.0/8, where the tests serve images and run issuers. Without this
 * variable, fetches may reach only public addresses.
 */
export const LOOPBACK_ALLOWED = { BERTH_FETCH_ALLOWED_PRIVATE: '["127.0.0.0/8"]' } as const;
