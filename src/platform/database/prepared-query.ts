import type pg from "pg";
import { getTypeParser } from "./database.ts";

/** A statement that answers with rows, and that every connection prepares once, under its name. */
export type Statement = { name: string; text: string };
export type StatementValue = string | Buffer | null;

/** What one connection has prepared: how the values of each statement's rows are read. */
export type PreparedStatements = Map<string, readonly Column[]>;
type Column = { name: string; parse(text: string): unknown };

/**
 * A query that `pg` is given ready to be sent. Its own would copy and describe each one anew, which took longer than all
 * else around a payment that comes alone. A class, as there is one for each batch of payments.
 */
export class PreparedQuery<Row> implements pg.Submittable {
  readonly rows: Promise<Row[]>;
  private readonly statement: Statement;
  private readonly values: StatementValue[];
  private readonly prepared: PreparedStatements;
  private readonly received: Row[] = [];
  // The promise calls its function before anything else can happen.
  private resolve!: (rows: Row[]) => void;
  private reject!: (error: unknown) => void;

  constructor(statement: Statement, values: StatementValue[], prepared: PreparedStatements) {
    this.statement = statement;
    this.values = values;
    this.prepared = prepared;
    this.rows = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  submit(connection: pg.Connection): void {
    const { name, text } = this.statement;
    connection.stream.cork();
    if (!this.prepared.has(name)) {
      connection.parse({ name, text, types: [] }, true);
      // Answered before anything else can fail, so that a statement is known if and only if the server knows it.
      connection.describe({ type: "S", name }, true);
    }
    connection.bind({ statement: name, values: this.values }, true);
    connection.execute(null, true);
    connection.sync();
    connection.stream.uncork();
  }

  handleRowDescription({ fields }: { fields: pg.FieldDef[] }): void {
    const columns = fields.map(({ name, dataTypeID }) => ({ name, parse: getTypeParser(dataTypeID) }));
    this.prepared.set(this.statement.name, columns);
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    const row: Record<string, unknown> = {};
    const columns = this.prepared.get(this.statement.name) ?? [];
    for (const [index, { name, parse }] of columns.entries()) {
      const text = fields[index] ?? null;
      row[name] = text === null ? null : parse(text);
    }
    // What a statement tells is said where it is written.
    this.received.push(row as Row);
  }

  handleCommandComplete(): void {
    // The rows are complete once the server is ready for the next query.
  }

  handleReadyForQuery(): void {
    this.resolve(this.received);
  }

  handleError(error: unknown): void {
    this.reject(error);
  }
}
