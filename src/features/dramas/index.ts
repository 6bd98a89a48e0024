/**
 * Dramas: from a script to a film.
 *
 * Promises: every stage is a task whose result is of use by itself, and the next goes on from it, changed or not. The
 * same people keep their faces and voices. What was finished is never done again, whoever dies; what is not finished is
 * not charged, and what is, is charged once. The models that do the work are the catalog's, whichever they are.
 */
export { createDramas, type Dramas } from "./create-dramas.ts";
export { type DramaFailpoint, dramaFailpoints } from "./drama-failpoints.ts";
export { presentDramaRequest } from "./present-drama-request.ts";
