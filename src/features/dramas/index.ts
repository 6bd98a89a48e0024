/**
 * Dramas: from a script to a film.
 *
 * Promises: every stage is a task with a useful result, from which the next stage resumes, changed or not. Characters
 * keep their faces and voices. Finished work is never repeated, even after a crash; finished stages are charged once,
 * unfinished ones never. The catalog selects the models.
 */
export { createDramas, type Dramas } from "./create-dramas.ts";
export { type DramaFailpoint, dramaFailpoints } from "./drama-failpoints.ts";
export { presentDramaRequest } from "./drama-request.ts";
