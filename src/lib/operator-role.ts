/** What an operator may do on the operator side: everything, or only read. */
export const operatorRoles = ["operator", "reader"] as const;

export type OperatorRole = (typeof operatorRoles)[number];
