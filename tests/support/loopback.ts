/**
 * The variable that allows fetches from this machine, where tests have images and issuers. Without it, fetches may
 * reach only public addresses.
 */
export const LOOPBACK_ALLOWED = { BERTH_FETCH_ALLOWED_PRIVATE: '["127.0.0.0/8"]' } as const;
