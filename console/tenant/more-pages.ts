// The pages of tenants that are opened seldom, and the pages of one object that need much code. They are one file of the
// build, which is loaded with the first of them.
export { GatewayPage } from "./gateway.tsx";
export { InstanceMetricsPage } from "./instance-metrics.tsx";
export { InstanceRebuild } from "./instance-rebuild.tsx";
export { InstanceScreen } from "./instance-screen.tsx";
export { InstanceSnapshots } from "./instance-snapshots.tsx";
export { PlacementGroups } from "./placement-groups.tsx";
export { VpcPage } from "./vpc.tsx";
export { WebhookPage } from "./webhook.tsx";
export { Webhooks } from "./webhooks.tsx";
