/** The helpers of the official MCP client, loaded when a login first needs them. */
export const sdk = () => import('@modelcontextprotocol/client');
