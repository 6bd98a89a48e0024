import fc from "fast-check";

/** What chance is in this run: `TEST_SEED` of an earlier run, which it prints when a test fails, makes it the same again. */
export const testSeed = Number(process.env.TEST_SEED);

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: testSeed });
