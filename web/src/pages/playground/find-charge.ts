import { api, ask } from "../../api/console-api.ts";

const lookEveryMs = 400;
const looksMax = 8;
const newestCharges = 20;

/**
 * The charge of an aborted call, which is settled shortly after the disconnect. `null` if not found in time; the usage
 * page shows it later.
 */
export async function findCharge(requestId: string, model: string): Promise<string | null> {
  for (let look = 0; look < looksMax; look++) {
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
    const { data } = await ask(api.GET("/charges", { params: { query: { model, limit: newestCharges } } }));
    const charge = data.find((each) => each.request_id === requestId);
    if (charge !== undefined) return charge.charge;
  }
  return null;
}
