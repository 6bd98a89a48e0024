import { api, ask } from "../../api/console-api.ts";

const lookEveryMs = 400;
const looksMax = 8;
const newestCharges = 20;

/**
 * What a call cost that did not live to say so itself: it is charged a moment after its caller has hung up. `null` where
 * nothing is found in time; it stands in the list of charges then.
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
