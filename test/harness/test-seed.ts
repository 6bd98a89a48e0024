import fc from "fast-check";

/** The seed of this run. Set `TEST_SEED` to the seed that a failed run prints to repeat it. */
export const testSeed = Number(process.env.TEST_SEED);

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: testSeed });
