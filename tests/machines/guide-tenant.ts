/** The tenant and the network of the guide to the first instance. */
export const TENANT = `
opsctl silo create acme
opsctl tenant create web --silo acme
opsctl project create shop --tenant web
opsctl quota set web/shop --cpu 16 --memory 64GiB --disk 1TiB --instances 8
opsctl api-key create --tenant web --description "web team" > tenant.key
chmod 600 tenant.key
tenantctl login --endpoint "$OPSCTL_ENDPOINT" --api-key-stdin < tenant.key
export TENANTCTL_PROJECT=shop
tenantctl vpc create --name main --ipv4-block 10.0.0.0/16
tenantctl subnet create --vpc main --name front --ipv4-block 10.0.1.0/24
`;
