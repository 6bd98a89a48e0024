import type { GenerationProvider } from "../generation.ts";
import { findProductObstacle } from "./find-products.ts";
import { createBadAnswer, type Maker, submitProduct } from "./submit-product.ts";

/** A provider from the table of a vendor without jobs. A lost reply is not asked for again: nothing keeps the outputs. */
export function createInstantGeneration(maker: Maker): GenerationProvider {
  return {
    traits: { isRepeatable: false, keepsWork: false, cancels: "never", pollMsMin: 1000, pollMsMax: 1000 },
    findObstacle: (request, search) => findProductObstacle(maker.vendor, request, search),
    async submit(call) {
      const outcome = await submitProduct(maker, call);
      if (outcome.kind !== "answered") return outcome;
      return { kind: "ambiguous", error: createBadAnswer("The vendor has no jobs.", outcome.answer) };
    },
    poll: async () => ({ kind: "lost" }),
    cancel: async () => "unsupported",
    close: () => maker.client.close(),
  };
}
