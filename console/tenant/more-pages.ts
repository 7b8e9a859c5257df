// Exports the pages of tenants that are seldom opened, and the pages of one object that need much code. The build puts
// them into one file, which the browser loads after the first page, while it is idle or when one of them is opened.
export { GatewayPage } from "./gateway.tsx";
export { InstanceConsole } from "./instance-console.tsx";
export { InstanceMetricsPage } from "./instance-metrics.tsx";
export { InstanceRebuild } from "./instance-rebuild.tsx";
export { InstanceScreen } from "./instance-screen.tsx";
export { InstanceSnapshots } from "./instance-snapshots.tsx";
export { Me } from "./me.tsx";
export { NewInstance } from "./new-instance.tsx";
export { PlacementGroups } from "./placement-groups.tsx";
export { VpcPage } from "./vpc.tsx";
export { WebhookPage } from "./webhook.tsx";
export { Webhooks } from "./webhooks.tsx";
