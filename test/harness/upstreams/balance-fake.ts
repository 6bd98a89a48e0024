import type { BalanceSource } from "../../../src/providers/provider-definition.ts";
import { type RecordingServer, startRecordingServer } from "../servers/recording-server.ts";

export const balanceKey = "plain-balance-words";

type Reply = { status: number; body: string };

/** Where each vendor's documentation has the endpoint, how the key is sent, and its example of an answer. */
const documented: Record<BalanceSource, { path: string; header: string; prefix: string; body: object }> = {
  openrouter: {
    ...{ path: "/api/v1/credits", header: "authorization", prefix: "Bearer " },
    body: { data: { total_credits: 100.5, total_usage: 25.75 } },
  },
  deepseek: {
    ...{ path: "/user/balance", header: "authorization", prefix: "Bearer " },
    body: {
      is_available: true,
      balance_infos: [
        { currency: "CNY", total_balance: "110.00", granted_balance: "10.00", topped_up_balance: "100.00" },
      ],
    },
  },
  moonshot: {
    ...{ path: "/v1/users/me/balance", header: "authorization", prefix: "Bearer " },
    body: {
      code: 0,
      data: { available_balance: 49.58894, voucher_balance: 46.58893, cash_balance: 3.00001 },
      scode: "0x0",
      status: true,
    },
  },
  siliconflow: {
    ...{ path: "/v1/user/info", header: "authorization", prefix: "Bearer " },
    body: {
      code: 20000,
      message: "OK",
      status: true,
      data: {
        ...{ id: "userid", name: "username", image: "", email: "user@example.com", isAdmin: false, balance: "0.88" },
        ...{ status: "normal", introduction: "", role: "", chargeBalance: "88.00", totalBalance: "88.88" },
      },
    },
  },
  luma: {
    ...{ path: "/dream-machine/v1/credits", header: "authorization", prefix: "Bearer " },
    body: { credit_balance: 1250 },
  },
  runway: {
    ...{ path: "/v1/organization", header: "authorization", prefix: "Bearer " },
    body: { creditBalance: 4200, tier: { maxMonthlyCreditSpend: 10000, models: {} }, usage: { models: {} } },
  },
  "black-forest-labs": { path: "/v1/credits", header: "x-key", prefix: "", body: { credits: 731.5 } },
};

/** Vendors' own endpoints for balances, with real answers until a test replaces one. */
export async function startBalanceFake(): Promise<RecordingServer & { replies: Map<string, Reply> }> {
  const replies = new Map<string, Reply>();
  const server = await startRecordingServer(({ method, path, headers }, response) => {
    const found = Object.values(documented).find((one) => one.path === path);
    const isKnown = Object.values(documented).some(
      ({ header, prefix }) => headers[header] === `${prefix}${balanceKey}`,
    );
    const usual = !isKnown
      ? { status: 401, body: JSON.stringify({ error: { message: "Invalid key", code: 401 } }) }
      : found === undefined || method !== "GET"
        ? { status: 404, body: JSON.stringify({ error: { message: "Not found" } }) }
        : { status: 200, body: JSON.stringify(found.body) };
    const { status, body } = replies.get(path) ?? usual;
    response.writeHead(status, { "content-type": "application/json" }).end(body);
  });
  return Object.assign(server, { replies });
}
