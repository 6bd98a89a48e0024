// Written by `npm run generate` from docs/operating/admin-openapi.json. Change the routes' schemas, not this file.
// The names at the top follow what openapi-fetch expects.

export type paths = {
  "/identity": {
    get: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "identity";
            kind: "operator" | "key";
            id: string;
            name: string;
            access: "read" | "write";
            scopes: ("accounts" | "requests" | "upstreams" | "catalog" | "money" | "work" | "alarms" | "audit" | "status" | "operators")[];
          };
        } };
      };
    };
  };
  "/operators": {
    get: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              object: "operator";
              id: string;
              email: string;
              name: string | null;
              role: "operator" | "reader";
              has_second_factor: boolean;
              granted_by: string;
              granted_at: string;
              last_seen_at: string | null;
            })[];
          };
        } };
      };
    };
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          email: string;
          role: "operator" | "reader";
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "operator";
            id: string;
            email: string;
            name: string | null;
            role: "operator" | "reader";
            has_second_factor: boolean;
            granted_by: string;
            granted_at: string;
            last_seen_at: string | null;
          };
        } };
      };
    };
  };
  "/operators/{user_id}": {
    delete: {
      parameters: {
        path: {
          user_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        204: { content?: never };
      };
    };
  };
  "/keys": {
    get: {
      parameters: {
        query?: {
          limit?: number;
          after?: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              object: "admin_key";
              id: string;
              name: string;
              preview: string;
              access: "read" | "write";
              scopes: ("accounts" | "requests" | "upstreams" | "catalog" | "money" | "work" | "alarms" | "audit" | "status" | "operators")[];
              created_by: string;
              created_at: string;
              expires_at: string | null;
              last_used_at: string | null;
              revoked_at: string | null;
            })[];
            has_more: boolean;
            next_cursor: string | null;
          };
        } };
      };
    };
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          name: string;
          access: "read" | "write";
          scopes?: ("accounts" | "requests" | "upstreams" | "catalog" | "money" | "work" | "alarms" | "audit" | "status" | "operators")[];
          expires_at?: string;
        };
      } };
      responses: {
        201: { content: {
          "application/json": {
            object: "admin_key";
            id: string;
            name: string;
            preview: string;
            access: "read" | "write";
            scopes: ("accounts" | "requests" | "upstreams" | "catalog" | "money" | "work" | "alarms" | "audit" | "status" | "operators")[];
            created_by: string;
            created_at: string;
            expires_at: string | null;
            last_used_at: string | null;
            revoked_at: string | null;
            key: string;
          };
        } };
      };
    };
  };
  "/keys/{key_id}/revoke": {
    post: {
      parameters: {
        path: {
          key_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": Record<never, never>;
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "admin_key";
            id: string;
            name: string;
            preview: string;
            access: "read" | "write";
            scopes: ("accounts" | "requests" | "upstreams" | "catalog" | "money" | "work" | "alarms" | "audit" | "status" | "operators")[];
            created_by: string;
            created_at: string;
            expires_at: string | null;
            last_used_at: string | null;
            revoked_at: string | null;
          };
        } };
      };
    };
  };
  "/audit": {
    get: {
      parameters: {
        query?: {
          actor?: string;
          action?: string;
          subject?: string;
          account_id?: string;
          from?: string;
          to?: string;
          limit?: number;
          after?: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              object: "audit_entry";
              id: string;
              created_at: string;
              actor: {
                kind: "operator" | "key" | "user" | "command" | "system";
                id: string | null;
                name: string;
              };
              address: string | null;
              action: string;
              subject: string | null;
              account_id: string | null;
              reason: string | null;
              before: Record<string, unknown> | null;
              after: Record<string, unknown> | null;
              request_id: string | null;
              hash: string;
            })[];
            has_more: boolean;
            next_cursor: string | null;
          };
        } };
      };
    };
  };
  "/audit/verification": {
    get: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "audit_verification";
            ok: boolean;
            entries: number;
            fault: {
              kind: "changed" | "cut-off";
              id: string;
            } | null;
            head: {
              id: string;
              hash: string;
            } | null;
          };
        } };
      };
    };
  };
  "/audit/export": {
    get: {
      parameters: {
        query?: {
          actor?: string;
          action?: string;
          subject?: string;
          account_id?: string;
          from?: string;
          to?: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": string;
        } };
      };
    };
  };
  "/accounts": {
    get: {
      parameters: {
        query?: {
          q?: string;
          plan?: string;
          status?: "active" | "suspended" | "frozen" | "closed";
          limit?: number;
          after?: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              object: "account";
              id: string;
              email: string;
              plan: string | null;
              status: "active" | "suspended" | "frozen" | "closed";
              available_balance: string;
              created_at: string;
            })[];
            has_more: boolean;
            next_cursor: string | null;
          };
        } };
      };
    };
  };
  "/accounts/{account_id}": {
    get: {
      parameters: {
        path: {
          account_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "account";
            id: string;
            email: string;
            plan: string | null;
            status: "active" | "suspended" | "frozen" | "closed";
            available_balance: string;
            created_at: string;
            time_zone: string;
            suspended_at: string | null;
            closed_at: string | null;
            frozen_reason: string | null;
            balance: {
              available: string;
              on_hold: string;
              cash: string;
              gift: string;
              owed: string;
              quotas: {
                text: number;
                image: number;
                video: number;
              };
            };
            currency: string;
            plan_name: string | null;
            plan_ends_at: string | null;
            limits: {
              requests_per_minute: number | null;
              tokens_per_minute: number | null;
              concurrent_requests: number | null;
              tasks_in_flight: number | null;
            };
            applied_limits: {
              requests_per_minute: number;
              tokens_per_minute: number;
              concurrent_requests: number;
              tasks_in_flight: number;
            };
            members: ({
              user_id: string;
              email: string;
              name: string | null;
              is_email_verified: boolean;
              has_password: boolean;
              has_totp: boolean;
              passkey_count: number;
              last_seen_at: string | null;
              created_at: string;
            })[];
          };
        } };
      };
    };
    patch: {
      parameters: {
        path: {
          account_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          plan?: string | null;
          limits?: {
            requests_per_minute?: number | null;
            tokens_per_minute?: number | null;
            concurrent_requests?: number | null;
            tasks_in_flight?: number | null;
          };
          reason: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "account";
            id: string;
            email: string;
            plan: string | null;
            status: "active" | "suspended" | "frozen" | "closed";
            available_balance: string;
            created_at: string;
            time_zone: string;
            suspended_at: string | null;
            closed_at: string | null;
            frozen_reason: string | null;
            balance: {
              available: string;
              on_hold: string;
              cash: string;
              gift: string;
              owed: string;
              quotas: {
                text: number;
                image: number;
                video: number;
              };
            };
            currency: string;
            plan_name: string | null;
            plan_ends_at: string | null;
            limits: {
              requests_per_minute: number | null;
              tokens_per_minute: number | null;
              concurrent_requests: number | null;
              tasks_in_flight: number | null;
            };
            applied_limits: {
              requests_per_minute: number;
              tokens_per_minute: number;
              concurrent_requests: number;
              tasks_in_flight: number;
            };
            members: ({
              user_id: string;
              email: string;
              name: string | null;
              is_email_verified: boolean;
              has_password: boolean;
              has_totp: boolean;
              passkey_count: number;
              last_seen_at: string | null;
              created_at: string;
            })[];
          };
        } };
      };
    };
  };
  "/plans": {
    get: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              id: string;
              name: string;
            })[];
          };
        } };
      };
    };
  };
  "/accounts/{account_id}/charges": {
    get: {
      parameters: {
        query?: {
          limit?: number;
          after?: string;
        };
        path: {
          account_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              object: "charge";
              id: string;
              model: string | null;
              unit: "money" | "text" | "image" | "video";
              amount: string;
              refunded: string;
              cause: {
                kind: string;
                id: string;
              };
              created_at: string;
            })[];
            has_more: boolean;
            next_cursor: string | null;
          };
        } };
      };
    };
  };
  "/accounts/{account_id}/keys": {
    get: {
      parameters: {
        query?: {
          limit?: number;
          after?: string;
        };
        path: {
          account_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              object: "api_key";
              id: string;
              name: string;
              kind: "secret" | "client" | "console";
              preview: string | null;
              created_at: string;
              last_used_at: string | null;
              expires_at: string | null;
              revoked_at: string | null;
              budget: {
                amount: string;
                period: string;
              } | null;
            })[];
            has_more: boolean;
            next_cursor: string | null;
          };
        } };
      };
    };
  };
  "/accounts/{account_id}/keys/{key_id}/revoke": {
    post: {
      parameters: {
        path: {
          account_id: string;
          key_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          reason: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "api_key";
            id: string;
            name: string;
            kind: "secret" | "client" | "console";
            preview: string | null;
            created_at: string;
            last_used_at: string | null;
            expires_at: string | null;
            revoked_at: string | null;
            budget: {
              amount: string;
              period: string;
            } | null;
          };
        } };
      };
    };
  };
  "/accounts/{account_id}/suspend": {
    post: {
      parameters: {
        path: {
          account_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          reason: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "account";
            id: string;
            email: string;
            plan: string | null;
            status: "active" | "suspended" | "frozen" | "closed";
            available_balance: string;
            created_at: string;
            time_zone: string;
            suspended_at: string | null;
            closed_at: string | null;
            frozen_reason: string | null;
            balance: {
              available: string;
              on_hold: string;
              cash: string;
              gift: string;
              owed: string;
              quotas: {
                text: number;
                image: number;
                video: number;
              };
            };
            currency: string;
            plan_name: string | null;
            plan_ends_at: string | null;
            limits: {
              requests_per_minute: number | null;
              tokens_per_minute: number | null;
              concurrent_requests: number | null;
              tasks_in_flight: number | null;
            };
            applied_limits: {
              requests_per_minute: number;
              tokens_per_minute: number;
              concurrent_requests: number;
              tasks_in_flight: number;
            };
            members: ({
              user_id: string;
              email: string;
              name: string | null;
              is_email_verified: boolean;
              has_password: boolean;
              has_totp: boolean;
              passkey_count: number;
              last_seen_at: string | null;
              created_at: string;
            })[];
          };
        } };
      };
    };
  };
  "/accounts/{account_id}/resume": {
    post: {
      parameters: {
        path: {
          account_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          reason: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "account";
            id: string;
            email: string;
            plan: string | null;
            status: "active" | "suspended" | "frozen" | "closed";
            available_balance: string;
            created_at: string;
            time_zone: string;
            suspended_at: string | null;
            closed_at: string | null;
            frozen_reason: string | null;
            balance: {
              available: string;
              on_hold: string;
              cash: string;
              gift: string;
              owed: string;
              quotas: {
                text: number;
                image: number;
                video: number;
              };
            };
            currency: string;
            plan_name: string | null;
            plan_ends_at: string | null;
            limits: {
              requests_per_minute: number | null;
              tokens_per_minute: number | null;
              concurrent_requests: number | null;
              tasks_in_flight: number | null;
            };
            applied_limits: {
              requests_per_minute: number;
              tokens_per_minute: number;
              concurrent_requests: number;
              tasks_in_flight: number;
            };
            members: ({
              user_id: string;
              email: string;
              name: string | null;
              is_email_verified: boolean;
              has_password: boolean;
              has_totp: boolean;
              passkey_count: number;
              last_seen_at: string | null;
              created_at: string;
            })[];
          };
        } };
      };
    };
  };
  "/accounts/{account_id}/credit": {
    post: {
      parameters: {
        path: {
          account_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          kind: "top_up" | "grant" | "adjust";
          amount: string;
          unit?: "money" | "text" | "image" | "video";
          expires_at?: string;
          reason: string;
          reference?: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "booking";
            id: string;
            replayed: boolean;
            available_balance: string;
          };
        } };
      };
    };
  };
  "/accounts/{account_id}/refunds": {
    post: {
      parameters: {
        path: {
          account_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          charge_id: string;
          amount: string;
          reason: string;
          reference?: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "booking";
            id: string;
            replayed: boolean;
            available_balance: string;
          };
        } };
      };
    };
  };
  "/upstreams": {
    get: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              object: "upstream";
              id: string;
              provider: string;
              kind: string;
              upstream_model: string;
              key: string | null;
              key_number: number;
              models: ({
                id: string;
                priority: number;
                weight: number;
              })[];
              switch: {
                mode: "disabled" | "draining";
                subject: string;
                reason: string;
                by: string;
                since: string;
                ends_at: string | null;
              } | null;
              circuits: ({
                node: string;
                state: string;
                failures: number;
                last_failure: string;
                open_until: string;
                reported_at: string;
              })[];
              tasks_max: number | null;
              tasks_per_minute: number | null;
              failed_attempts: number;
              last_failure: string | null;
              limits: ({
                name: string;
                limit: number | null;
                remaining: number | null;
                resets_at: string | null;
                seen_at: string;
              })[];
            })[];
            balances: ({
              provider: string;
              key_number: number;
              balance: string | null;
              currency: string | null;
              read_at: string | null;
              low: string | null;
              asked_at: string;
              failure: string | null;
            })[];
            traffic: ({
              provider: string;
              model: string;
              calls: number;
              failed: number;
              latency_ms: number | null;
              first_token_ms: number | null;
            })[];
            traffic_since: string;
          };
        } };
      };
    };
  };
  "/upstreams/events": {
    get: {
      parameters: {
        query?: {
          limit?: number;
          after?: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              object: "upstream_event";
              id: string;
              kind: "switched_off" | "switched_on" | "secret_stored" | "secret_retired" | "catalog_applied" | "circuit_opened" | "circuit_closed" | "test_passed" | "test_failed";
              at: string;
              subject: string;
              by: string | null;
              detail: string | null;
            })[];
            has_more: boolean;
            next_cursor: string | null;
          };
        } };
      };
    };
  };
  "/vendors": {
    get: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              id: string;
              currency: string;
              secrets: (string)[];
              base_url: string | null;
              models: ({
                id: string;
                name: string;
                type: string;
                price: string | null;
              })[];
            })[];
          };
        } };
      };
    };
  };
  "/upstreams/switches": {
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          subject: string;
          mode: "disabled" | "draining" | "enabled";
          ends_at?: string;
          reason: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "upstream_switch";
            subject: string;
            mode: string;
            models_without_route: (string)[];
          };
        } };
      };
    };
  };
  "/upstreams/tests": {
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          provider: string;
          model?: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "upstream_test";
            provider: string;
            ok: boolean;
            checks: ({
              check: string;
              ok: boolean;
              message: string;
              remedy: string | null;
            })[];
          };
        } };
      };
    };
  };
  "/secrets": {
    get: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              object: "upstream_secret";
              id: string;
              source: "database" | "environment" | "missing";
              is_unreadable: boolean;
              providers: (string)[];
              versions: ({
                version: number;
                created_at: string;
                created_by: string;
                retired_at: string | null;
                last_used_at: string | null;
              })[];
            })[];
          };
        } };
      };
    };
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          name: string;
          value: string;
          vendor?: string;
          base_url?: string;
          unchecked?: boolean;
          reason: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "stored_secret";
            name: string;
            version: number | null;
            checks: ({
              check: string;
              ok: boolean;
              message: string;
              remedy: string | null;
            })[];
          };
        } };
      };
    };
  };
  "/secrets/rollbacks": {
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          name: string;
          version?: number;
          reason: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "stored_secret";
            name: string;
            version: number | null;
            checks: ({
              check: string;
              ok: boolean;
              message: string;
              remedy: string | null;
            })[];
          };
        } };
      };
    };
  };
  "/catalog": {
    get: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "catalog";
            version: number;
            applied_at: string | null;
            by: string | null;
            reason: string | null;
            catalog: string;
          };
        } };
      };
    };
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          catalog: string;
          base_version: number;
          reason: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "catalog_check";
            ok: boolean;
            problems: ({
              line: number;
              column: number;
              message: string;
            })[];
            warnings: ({
              line: number;
              column: number;
              message: string;
            })[];
            changes: (string)[];
            version: number | null;
          };
        } };
      };
    };
  };
  "/catalog/versions": {
    get: {
      parameters: {
        query?: {
          limit?: number;
          after?: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              object: "catalog_version";
              id: string;
              applied_at: string;
              by: string | null;
              reason: string | null;
            })[];
            has_more: boolean;
            next_cursor: string | null;
          };
        } };
      };
    };
  };
  "/catalog/versions/{version}": {
    get: {
      parameters: {
        path: {
          version: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "catalog";
            version: number;
            applied_at: string | null;
            by: string | null;
            reason: string | null;
            catalog: string;
          };
        } };
      };
    };
  };
  "/catalog/checks": {
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          catalog: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "catalog_check";
            ok: boolean;
            problems: ({
              line: number;
              column: number;
              message: string;
            })[];
            warnings: ({
              line: number;
              column: number;
              message: string;
            })[];
            changes: (string)[];
            version: number | null;
          };
        } };
      };
    };
  };
  "/catalog/simulations": {
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          catalog: string;
          days?: number;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "catalog_simulation";
            ok: boolean;
            problems: ({
              line: number;
              column: number;
              message: string;
            })[];
            since: string;
            kept: number;
            total: {
              calls: number;
              charged: string;
              simulated: string;
              change: string;
              cost: string;
              margin: string;
            };
            models: ({
              model: string;
              calls: number;
              charged: string;
              simulated: string;
              change: string;
              cost: string;
              margin: string;
            })[];
            accounts: ({
              account_id: string;
              calls: number;
              charged: string;
              simulated: string;
              change: string;
              cost: string;
              margin: string;
            })[];
          };
        } };
      };
    };
  };
  "/catalog/edits": {
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          catalog: string;
          edit: {
            kind: "set_price";
            model: string;
            amounts: Record<string, string>;
          } | {
            kind: "add_model";
            provider: string;
            upstream_model: string;
            id: string;
            name: string;
            max_output_tokens: number;
            input_price: string;
            output_price: string;
          } | {
            kind: "set_route";
            model: string;
            provider: string;
            upstream_model: string;
            priority: number;
            weight: number;
          } | {
            kind: "remove_model";
            model: string;
          };
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "edited_catalog";
            catalog: string;
            notes: (string)[];
            problems: ({
              line: number;
              column: number;
              message: string;
            })[];
          };
        } };
      };
    };
  };
  "/catalog/vendors": {
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          catalog: string;
          vendor: string;
          models: (string)[];
          markup?: string;
          base_url?: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "edited_catalog";
            catalog: string;
            notes: (string)[];
            problems: ({
              line: number;
              column: number;
              message: string;
            })[];
          };
        } };
      };
    };
  };
  "/catalog/imports": {
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          catalog: string;
          source: "models.dev" | "litellm" | "openrouter" | "fal" | "replicate";
          list: string;
          provider: string;
          vendor?: string;
          markup?: string;
          models?: (string)[];
          type?: "chat" | "image" | "video" | "avatar" | "drama" | "speech" | "embedding" | "transcription";
          price?: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "edited_catalog";
            catalog: string;
            notes: (string)[];
            problems: ({
              line: number;
              column: number;
              message: string;
            })[];
          };
        } };
      };
    };
  };
  "/catalog/schedules": {
    get: {
      parameters: {
        query?: {
          limit?: number;
          after?: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              object: "scheduled_catalog";
              id: string;
              status: "waiting" | "applied" | "failed" | "canceled";
              run_at: string;
              reason: string;
              base_version: number;
              created_at: string;
              created_by: string;
              version: number | null;
              failure: string | null;
              finished_at: string | null;
            })[];
            has_more: boolean;
            next_cursor: string | null;
          };
        } };
      };
    };
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          catalog: string;
          run_at: string;
          reason: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "catalog_schedule";
            check: {
              object: "catalog_check";
              ok: boolean;
              problems: ({
                line: number;
                column: number;
                message: string;
              })[];
              warnings: ({
                line: number;
                column: number;
                message: string;
              })[];
              changes: (string)[];
              version: number | null;
            };
            scheduled: {
              object: "scheduled_catalog";
              id: string;
              status: "waiting" | "applied" | "failed" | "canceled";
              run_at: string;
              reason: string;
              base_version: number;
              created_at: string;
              created_by: string;
              version: number | null;
              failure: string | null;
              finished_at: string | null;
            } | null;
          };
        } };
      };
    };
  };
  "/catalog/schedules/{schedule_id}/cancel": {
    post: {
      parameters: {
        path: {
          schedule_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          reason: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "scheduled_catalog";
            id: string;
            status: "waiting" | "applied" | "failed" | "canceled";
            run_at: string;
            reason: string;
            base_version: number;
            created_at: string;
            created_by: string;
            version: number | null;
            failure: string | null;
            finished_at: string | null;
          };
        } };
      };
    };
  };
  "/setup": {
    get: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "setup";
            done: boolean;
            steps: ({
              name: "vendor_key" | "models" | "prices" | "payments" | "mail" | "backups" | "first_call";
              done: boolean;
              found: string;
            })[];
          };
        } };
      };
    };
  };
  "/accounts/{account_id}/notes": {
    get: {
      parameters: {
        query?: {
          limit?: number;
          after?: string;
        };
        path: {
          account_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              object: "account_note";
              id: string;
              author: string;
              text: string;
              created_at: string;
            })[];
            has_more: boolean;
            next_cursor: string | null;
          };
        } };
      };
    };
    post: {
      parameters: {
        path: {
          account_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          text: string;
        };
      } };
      responses: {
        201: { content: {
          "application/json": {
            object: "account_note";
            id: string;
            author: string;
            text: string;
            created_at: string;
          };
        } };
      };
    };
  };
  "/accounts/{account_id}/close": {
    post: {
      parameters: {
        path: {
          account_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          reason: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "account";
            id: string;
            email: string;
            plan: string | null;
            status: "active" | "suspended" | "frozen" | "closed";
            available_balance: string;
            created_at: string;
            time_zone: string;
            suspended_at: string | null;
            closed_at: string | null;
            frozen_reason: string | null;
            balance: {
              available: string;
              on_hold: string;
              cash: string;
              gift: string;
              owed: string;
              quotas: {
                text: number;
                image: number;
                video: number;
              };
            };
            currency: string;
            plan_name: string | null;
            plan_ends_at: string | null;
            limits: {
              requests_per_minute: number | null;
              tokens_per_minute: number | null;
              concurrent_requests: number | null;
              tasks_in_flight: number | null;
            };
            applied_limits: {
              requests_per_minute: number;
              tokens_per_minute: number;
              concurrent_requests: number;
              tasks_in_flight: number;
            };
            members: ({
              user_id: string;
              email: string;
              name: string | null;
              is_email_verified: boolean;
              has_password: boolean;
              has_totp: boolean;
              passkey_count: number;
              last_seen_at: string | null;
              created_at: string;
            })[];
          };
        } };
      };
    };
  };
  "/accounts/{account_id}/users/{user_id}/reset_two_step": {
    post: {
      parameters: {
        path: {
          account_id: string;
          user_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          reason: string;
        };
      } };
      responses: {
        204: { content?: never };
      };
    };
  };
  "/accounts/{account_id}/views": {
    post: {
      parameters: {
        path: {
          account_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          reason: string;
        };
      } };
      responses: {
        201: { content: {
          "application/json": {
            object: "account_view";
            id: string;
            account_id: string;
            email: string;
            ends_at: string;
          };
        } };
      };
    };
  };
  "/view/end": {
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": Record<never, never>;
      } };
      responses: {
        204: { content?: never };
      };
    };
  };
  "/accounts/{account_id}/export": {
    post: {
      parameters: {
        path: {
          account_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          reason: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": string;
        } };
      };
    };
  };
  "/accounts/{account_id}/erase": {
    post: {
      parameters: {
        path: {
          account_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          reason: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "person_erasure";
            account_id: string;
            audit_entries: number;
          };
        } };
      };
    };
  };
  "/today": {
    get: {
      parameters: {
        query?: {
          day?: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "today";
            day: string;
            time_zone: string;
            currency: string;
            current: {
              from: string;
              to: string;
              revenue: string;
              cost: string;
              margin: string;
              calls: number;
              calls_without_cost: number;
              errors: number | null;
              requests: number | null;
              money_in: string;
              credit_given: string;
              refunds: string;
              reversed: string;
              active_accounts: number;
              new_accounts: number;
            };
            previous: {
              from: string;
              to: string;
              revenue: string;
              cost: string;
              margin: string;
              calls: number;
              calls_without_cost: number;
              errors: number | null;
              requests: number | null;
              money_in: string;
              credit_given: string;
              refunds: string;
              reversed: string;
              active_accounts: number;
              new_accounts: number;
            };
            firing_alarms: number;
            liability: string;
            owed: string;
            queues: {
              queued_tasks: number;
              processing_tasks: number;
              waiting_tasks: number;
              oldest_queued_at: string | null;
              pending_deliveries: number;
              delivery_due_at: string | null;
            };
          };
        } };
      };
    };
  };
  "/payments": {
    get: {
      parameters: {
        query?: {
          account_id?: string;
          state?: "open" | "paid" | "expired" | "failed" | "mismatched";
          origin?: "page" | "automatic" | "external";
          from?: string;
          to?: string;
          limit?: number;
          after?: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              object: "payment";
              id: string;
              account_id: string;
              email: string | null;
              amount: string;
              refunded: string;
              currency: string;
              state: "open" | "paid" | "expired" | "failed" | "mismatched";
              origin: "page" | "automatic" | "external";
              note: string | null;
              provider_payment_id: string | null;
              created_at: string;
              ended_at: string | null;
              disputed_at: string | null;
            })[];
            has_more: boolean;
            next_cursor: string | null;
          };
        } };
      };
    };
  };
  "/payments/{payment_id}": {
    get: {
      parameters: {
        path: {
          payment_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "payment";
            id: string;
            account_id: string;
            email: string | null;
            amount: string;
            refunded: string;
            currency: string;
            state: "open" | "paid" | "expired" | "failed" | "mismatched";
            origin: "page" | "automatic" | "external";
            note: string | null;
            provider_payment_id: string | null;
            created_at: string;
            ended_at: string | null;
            disputed_at: string | null;
            can_refund: boolean;
            reversals: ({
              object: "reversal";
              id: string;
              payment_id: string;
              kind: "refund" | "dispute";
              status: string;
              amount: string;
              reason: string | null;
              clawed_back: string;
              waived: string;
              owed: string;
            })[];
          };
        } };
      };
    };
  };
  "/reversals": {
    get: {
      parameters: {
        query?: {
          kind?: "refund" | "dispute";
          limit?: number;
          after?: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              object: "reversal";
              id: string;
              payment_id: string;
              kind: "refund" | "dispute";
              status: string;
              amount: string;
              reason: string | null;
              clawed_back: string;
              waived: string;
              owed: string;
              account_id: string;
              email: string | null;
              created_at: string;
            })[];
            has_more: boolean;
            next_cursor: string | null;
          };
        } };
      };
    };
  };
  "/payments/{payment_id}/refund": {
    post: {
      parameters: {
        path: {
          payment_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          amount?: string;
          reason: string;
          reference?: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "payment";
            id: string;
            account_id: string;
            email: string | null;
            amount: string;
            refunded: string;
            currency: string;
            state: "open" | "paid" | "expired" | "failed" | "mismatched";
            origin: "page" | "automatic" | "external";
            note: string | null;
            provider_payment_id: string | null;
            created_at: string;
            ended_at: string | null;
            disputed_at: string | null;
            can_refund: boolean;
            reversals: ({
              object: "reversal";
              id: string;
              payment_id: string;
              kind: "refund" | "dispute";
              status: string;
              amount: string;
              reason: string | null;
              clawed_back: string;
              waived: string;
              owed: string;
            })[];
          };
        } };
      };
    };
  };
  "/payments/{payment_id}/waive": {
    post: {
      parameters: {
        path: {
          payment_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          reason: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "waiver";
            waived: string;
          };
        } };
      };
    };
  };
  "/revenue": {
    get: {
      parameters: {
        query?: {
          by?: "day" | "month";
          from?: string;
          to?: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            time_zone: string;
            currency: string;
            data: ({
              from: string;
              to: string;
              sold: string;
              given: string;
              refunded: string;
              reversed: string;
              expired: string;
              adjusted: string;
              revenue: string;
              cost: string;
              calls: number;
              liability: string;
            })[];
          };
        } };
      };
    };
  };
  "/margins": {
    get: {
      parameters: {
        query?: {
          by?: "model" | "account" | "route";
          from?: string;
          to?: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            currency: string;
            data: ({
              subject: string | null;
              email: string | null;
              calls: number;
              calls_without_cost: number;
              revenue: string;
              cost: string;
              margin: string;
            })[];
          };
        } };
      };
    };
  };
  "/credit-entries": {
    get: {
      parameters: {
        query?: {
          account_id?: string;
          kind?: "top_up" | "grant" | "refund" | "reversal" | "expiry" | "adjustment";
          from?: string;
          to?: string;
          limit?: number;
          after?: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              object: "credit_entry";
              id: string;
              account_id: string;
              email: string | null;
              kind: "top_up" | "grant" | "refund" | "reversal" | "expiry" | "adjustment";
              unit: "money" | "text" | "image" | "video";
              amount: string;
              channel: string | null;
              refund_of: string | null;
              cause: {
                kind: string;
                id: string;
              };
              created_at: string;
            })[];
            has_more: boolean;
            next_cursor: string | null;
          };
        } };
      };
    };
  };
  "/ledger-verifications": {
    get: {
      parameters: {
        query?: {
          limit?: number;
          after?: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              object: "ledger_verification";
              id: string;
              scope: "new" | "whole";
              state: "waiting" | "running" | "passed" | "failed";
              asked_by: string;
              asked_at: string;
              started_at: string | null;
              ended_at: string | null;
              accounts: number | null;
              entries: number | null;
              violation_count: number;
              violations: ({
                invariant: string;
                account_id: string;
                message: string;
              })[];
            })[];
            has_more: boolean;
            next_cursor: string | null;
          };
        } };
      };
    };
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          scope?: "new" | "whole";
        };
      } };
      responses: {
        202: { content: {
          "application/json": {
            object: "ledger_verification";
            id: string;
            scope: "new" | "whole";
            state: "waiting" | "running" | "passed" | "failed";
            asked_by: string;
            asked_at: string;
            started_at: string | null;
            ended_at: string | null;
            accounts: number | null;
            entries: number | null;
            violation_count: number;
            violations: ({
              invariant: string;
              account_id: string;
              message: string;
            })[];
          };
        } };
      };
    };
  };
  "/frozen-accounts": {
    get: {
      parameters: {
        query?: {
          limit?: number;
          after?: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              object: "frozen_account";
              id: string;
              email: string;
              kind: "invariant" | "debt";
              reason: string;
              owed: string;
              payment_id: string | null;
              since: string;
            })[];
            has_more: boolean;
            next_cursor: string | null;
          };
        } };
      };
    };
  };
  "/accounts/{account_id}/unfreeze": {
    post: {
      parameters: {
        path: {
          account_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          reason: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "account";
            id: string;
          };
        } };
      };
    };
  };
  "/code-batches": {
    get: {
      parameters: {
        query?: {
          limit?: number;
          after?: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              object: "code_batch";
              id: string;
              kind: "cash" | "gift";
              amount: string;
              currency: string;
              gift_days: number | null;
              note: string;
              codes: number;
              redeemed: number;
              revoked: number;
              created_by: string;
              created_at: string;
              expires_at: string | null;
            })[];
            has_more: boolean;
            next_cursor: string | null;
          };
        } };
      };
    };
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          kind?: "gift" | "cash";
          amount: string;
          count: number;
          gift_days?: number;
          expires_at?: string;
          note?: string;
          reason: string;
        };
      } };
      responses: {
        201: { content: {
          "application/json": {
            object: "code_batch";
            id: string;
            kind: "cash" | "gift";
            amount: string;
            currency: string;
            gift_days: number | null;
            note: string;
            codes: number;
            redeemed: number;
            revoked: number;
            created_by: string;
            created_at: string;
            expires_at: string | null;
            texts: (string)[];
          };
        } };
      };
    };
  };
  "/code-batches/{batch_id}/revoke": {
    post: {
      parameters: {
        path: {
          batch_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          reason: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "revocation";
            revoked: number;
          };
        } };
      };
    };
  };
  "/codes": {
    get: {
      parameters: {
        query?: {
          batch_id?: string;
          limit?: number;
          after?: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              object: "code";
              id: string;
              batch_id: string | null;
              preview: string;
              kind: "cash" | "gift";
              amount: string;
              state: "open" | "redeemed" | "revoked" | "expired";
              redeemed_by: string | null;
              redeemed_at: string | null;
              created_at: string;
            })[];
            has_more: boolean;
            next_cursor: string | null;
          };
        } };
      };
    };
  };
  "/codes/{code_id}/revoke": {
    post: {
      parameters: {
        path: {
          code_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          reason: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "code";
            id: string;
            batch_id: string | null;
            preview: string;
            kind: "cash" | "gift";
            amount: string;
            state: "open" | "redeemed" | "revoked" | "expired";
            redeemed_by: string | null;
            redeemed_at: string | null;
            created_at: string;
          };
        } };
      };
    };
  };
  "/documents": {
    get: {
      parameters: {
        query?: {
          account_id?: string;
          kind?: "invoice" | "credit_note" | "statement";
          number?: string;
          from?: string;
          to?: string;
          limit?: number;
          after?: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              object: "document";
              id: string;
              kind: "invoice" | "credit_note" | "statement";
              number: string;
              issued_at: string;
              account_id: string;
              email: string | null;
              currency: string;
              total: string;
              tax: string | null;
              channel: string | null;
              payment_id: string | null;
              corrects: string | null;
              month: string | null;
            })[];
            has_more: boolean;
            next_cursor: string | null;
          };
        } };
      };
    };
  };
  "/documents/{document_id}/pdf": {
    get: {
      parameters: {
        path: {
          document_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": string;
        } };
      };
    };
  };
  "/books": {
    get: {
      parameters: {
        query: {
          from: string;
          to?: string;
          account_id?: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": string;
        } };
      };
    };
  };
  "/books/revenue": {
    get: {
      parameters: {
        query: {
          from: string;
          to?: string;
          by?: "day" | "month";
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": string;
        } };
      };
    };
  };
  "/tasks": {
    get: {
      parameters: {
        query?: {
          state?: "open" | "queued" | "processing" | "failed" | "succeeded" | "canceled";
          account_id?: string;
          model?: string;
          provider?: string;
          limit?: number;
          after?: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              object: "task";
              id: string;
              account_id: string;
              email: string | null;
              parent_id: string | null;
              type: "image" | "video" | "avatar" | "drama" | "speech";
              model: string;
              state: "queued" | "processing" | "succeeded" | "failed" | "canceled" | "expired";
              phase: string;
              progress: number;
              provider: string | null;
              error_code: string | null;
              created_at: string;
              finished_at: string | null;
              deadline_at: string;
              due_at: string | null;
              is_waiting: boolean;
            })[];
            has_more: boolean;
            next_cursor: string | null;
          };
        } };
      };
    };
  };
  "/tasks/{task_id}": {
    get: {
      parameters: {
        path: {
          task_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "task";
            id: string;
            account_id: string;
            email: string | null;
            parent_id: string | null;
            type: "image" | "video" | "avatar" | "drama" | "speech";
            model: string;
            state: "queued" | "processing" | "succeeded" | "failed" | "canceled" | "expired";
            phase: string;
            progress: number;
            provider: string | null;
            error_code: string | null;
            created_at: string;
            finished_at: string | null;
            deadline_at: string;
            due_at: string | null;
            charge: string;
            request_id: string;
            hold_id: string | null;
            polls: number | null;
            target: {
              provider: string;
              model: string | null;
              key: number;
            } | null;
            tried: ({
              provider: string;
              model: string | null;
              key: number;
            })[];
            error: {
              code: string;
              message: string;
            } | null;
            steps: ({
              name: string;
              state: string;
              progress: number;
              task_ids: (string)[];
            })[];
            files: (string)[];
            course: ({
              event: string;
              at: string;
            })[];
          };
        } };
      };
    };
  };
  "/tasks/{task_id}/cancel": {
    post: {
      parameters: {
        path: {
          task_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          reason: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "task";
            id: string;
            account_id: string;
            email: string | null;
            parent_id: string | null;
            type: "image" | "video" | "avatar" | "drama" | "speech";
            model: string;
            state: "queued" | "processing" | "succeeded" | "failed" | "canceled" | "expired";
            phase: string;
            progress: number;
            provider: string | null;
            error_code: string | null;
            created_at: string;
            finished_at: string | null;
            deadline_at: string;
            due_at: string | null;
            charge: string;
            request_id: string;
            hold_id: string | null;
            polls: number | null;
            target: {
              provider: string;
              model: string | null;
              key: number;
            } | null;
            tried: ({
              provider: string;
              model: string | null;
              key: number;
            })[];
            error: {
              code: string;
              message: string;
            } | null;
            steps: ({
              name: string;
              state: string;
              progress: number;
              task_ids: (string)[];
            })[];
            files: (string)[];
            course: ({
              event: string;
              at: string;
            })[];
          };
        } };
      };
    };
  };
  "/tasks/{task_id}/retry": {
    post: {
      parameters: {
        path: {
          task_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          reason: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "retry";
            outcome: "woken" | "recreated";
            task: {
              object: "task";
              id: string;
              account_id: string;
              email: string | null;
              parent_id: string | null;
              type: "image" | "video" | "avatar" | "drama" | "speech";
              model: string;
              state: "queued" | "processing" | "succeeded" | "failed" | "canceled" | "expired";
              phase: string;
              progress: number;
              provider: string | null;
              error_code: string | null;
              created_at: string;
              finished_at: string | null;
              deadline_at: string;
              due_at: string | null;
              charge: string;
              request_id: string;
              hold_id: string | null;
              polls: number | null;
              target: {
                provider: string;
                model: string | null;
                key: number;
              } | null;
              tried: ({
                provider: string;
                model: string | null;
                key: number;
              })[];
              error: {
                code: string;
                message: string;
              } | null;
              steps: ({
                name: string;
                state: string;
                progress: number;
                task_ids: (string)[];
              })[];
              files: (string)[];
              course: ({
                event: string;
                at: string;
              })[];
            };
          };
        } };
      };
    };
  };
  "/deliveries": {
    get: {
      parameters: {
        query?: {
          state?: "failing" | "pending" | "succeeded" | "failed";
          account_id?: string;
          event_id?: string;
          limit?: number;
          after?: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              object: "delivery";
              id: string;
              event_id: string;
              event_type: string;
              account_id: string;
              email: string | null;
              webhook_endpoint_id: string | null;
              url: string;
              state: string;
              attempts: number;
              last_status: number | null;
              last_error: string | null;
              next_attempt_at: string | null;
              created_at: string;
            })[];
            has_more: boolean;
            next_cursor: string | null;
          };
        } };
      };
    };
  };
  "/events/{event_id}/resend": {
    post: {
      parameters: {
        path: {
          event_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          reason: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "event";
            id: string;
          };
        } };
      };
    };
  };
  "/queues": {
    get: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              provider: string;
              at_work: number;
              waiting: number;
              waiting_since: string | null;
              tasks_max: number | null;
              tasks_per_minute: number | null;
              limits_per: "provider" | "key";
            })[];
          };
        } };
      };
    };
  };
  "/storage": {
    get: {
      parameters: {
        query?: {
          limit?: number;
          after?: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              object: "account_storage";
              id: string;
              email: string;
              uploads: {
                files: number;
                bytes: number;
              };
              outputs: {
                files: number;
                bytes: number;
              };
            })[];
            has_more: boolean;
            next_cursor: string | null;
            uploads: {
              files: number;
              bytes: number;
            };
            expired_files: number;
            retention: {
              file_days: number;
              task_days: number;
              request_days: number;
            };
          };
        } };
      };
    };
  };
  "/storage/purge": {
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          reason: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "purge";
            files: number;
            removed_bytes: number;
          };
        } };
      };
    };
  };
  "/requests": {
    get: {
      parameters: {
        query?: {
          account_id?: string;
          key_id?: string;
          model?: string;
          upstream?: string;
          wire?: "models" | "pricing" | "quotes" | "completions" | "chat" | "responses" | "messages" | "balance" | "usage" | "requests" | "files" | "images" | "videos" | "avatars" | "dramas" | "embeddings" | "speech" | "transcriptions" | "tasks" | "webhooks";
          status?: string;
          error_code?: string;
          failed_attempts?: "any";
          from?: string;
          to?: string;
          limit?: number;
          after?: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              object: "request";
              id: string;
              created_at: string;
              account_id: string;
              email: string | null;
              key_id: string;
              method: string;
              route: string | null;
              wire: string | null;
              model: string | null;
              status: number;
              error_code: string | null;
              ending: "answered" | "refused" | "failed" | "hung_up" | "broken_off";
              latency_ms: number;
              time_to_first_token_ms: number | null;
              input_tokens: number | null;
              output_tokens: number | null;
              charge: string | null;
              upstream: string | null;
              failed_attempt_count: number;
              task_id: string | null;
            })[];
            has_more: boolean;
            next_cursor: string | null;
          };
        } };
      };
    };
  };
  "/requests/{request_id}": {
    get: {
      parameters: {
        path: {
          request_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "request";
            id: string;
            created_at: string;
            account_id: string;
            email: string | null;
            key_id: string;
            method: string;
            route: string | null;
            wire: string | null;
            model: string | null;
            status: number;
            error_code: string | null;
            ending: "answered" | "refused" | "failed" | "hung_up" | "broken_off";
            latency_ms: number;
            time_to_first_token_ms: number | null;
            input_tokens: number | null;
            output_tokens: number | null;
            charge: string | null;
            upstream: string | null;
            failed_attempt_count: number;
            task_id: string | null;
            client_request_id: string | null;
            upstream_request_id: string | null;
            error_message: string | null;
            error_param: string | null;
            user_agent: string | null;
            replayed: boolean;
            account: {
              id: string;
              email: string | null;
              suspended: boolean;
            };
            key: {
              id: string;
              name: string | null;
              revoked: boolean;
            };
            failed_attempts: ({
              upstream: string;
              upstream_model: string;
              key_number: number;
              failure: string;
              status: number | null;
              code: string | null;
              said: string | null;
              upstream_request_id: string | null;
              duration_ms: number;
            })[];
            charged: {
              id: string;
              unit: "money" | "text" | "image" | "video";
              amount: string;
              refunded: string;
            } | null;
            costs: ({
              upstream: string;
              upstream_model: string;
              amount: string;
              computed: string | null;
            })[];
            cost: string | null;
            margin: string | null;
            currency: string;
            task: {
              id: string;
              type: string;
              status: string;
              phase: string;
              upstream: string | null;
              upstream_model: string | null;
              error_code: string | null;
              error_message: string | null;
              created_at: string;
              finished_at: string | null;
            } | null;
          };
        } };
      };
    };
  };
  "/search": {
    get: {
      parameters: {
        query: {
          q: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              object: "account" | "key" | "admin_key" | "task" | "charge" | "ledger_entry" | "hold" | "payment" | "file" | "event" | "webhook_endpoint" | "request";
              id: string;
              name: string;
              status: string | null;
              account_id: string | null;
              email: string | null;
              request_id: string | null;
              created_at: string;
            })[];
            requests_from: string | null;
          };
        } };
      };
    };
  };
  "/commands": {
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          words: (string)[];
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "command_output";
            text: string;
            notes: string;
            failed: boolean;
            exit_code: number;
          };
        } };
      };
    };
  };
  "/alarms": {
    get: {
      parameters: {
        query?: {
          status?: "open" | "resolved" | "all";
          rule?: "negative-margin" | "uncharged-cost" | "model-errors" | "upstream-errors" | "circuit-open" | "vendor-balance" | "tasks-due" | "tasks-queued" | "webhooks-due" | "webhooks-failing" | "holds-overdue" | "jobs-late" | "accounts-frozen" | "disk-space" | "replication-lag" | "connection-budget" | "backup-age" | "archive-failing" | "requests-lost";
          limit?: number;
          after?: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              object: "alarm";
              id: string;
              rule: string;
              title: string;
              severity: "page" | "ticket";
              subject: string;
              status: "firing" | "acknowledged" | "silenced" | "resolved";
              value: number;
              message: string;
              run_book: string | null;
              began_at: string;
              met_at: string;
              silenced_until: string | null;
              ended_at: string | null;
            })[];
            has_more: boolean;
            next_cursor: string | null;
          };
        } };
      };
    };
  };
  "/alarms/{alarm_id}": {
    get: {
      parameters: {
        path: {
          alarm_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "alarm";
            id: string;
            rule: string;
            title: string;
            severity: "page" | "ticket";
            subject: string;
            status: "firing" | "acknowledged" | "silenced" | "resolved";
            value: number;
            message: string;
            run_book: string | null;
            began_at: string;
            met_at: string;
            silenced_until: string | null;
            ended_at: string | null;
            history: ({
              event: string;
              status: string;
              actor: string;
              note: string | null;
              at: string;
            })[];
            notifications: ({
              channel: string;
              status: "waiting" | "sent" | "failed";
              attempts: number;
              trouble: string | null;
              created_at: string;
              ended_at: string | null;
            })[];
          };
        } };
      };
    };
  };
  "/alarms/{alarm_id}/acknowledge": {
    post: {
      parameters: {
        path: {
          alarm_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          note?: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "alarm";
            id: string;
            rule: string;
            title: string;
            severity: "page" | "ticket";
            subject: string;
            status: "firing" | "acknowledged" | "silenced" | "resolved";
            value: number;
            message: string;
            run_book: string | null;
            began_at: string;
            met_at: string;
            silenced_until: string | null;
            ended_at: string | null;
          };
        } };
      };
    };
  };
  "/alarms/{alarm_id}/silence": {
    post: {
      parameters: {
        path: {
          alarm_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          until: string;
          note?: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "alarm";
            id: string;
            rule: string;
            title: string;
            severity: "page" | "ticket";
            subject: string;
            status: "firing" | "acknowledged" | "silenced" | "resolved";
            value: number;
            message: string;
            run_book: string | null;
            began_at: string;
            met_at: string;
            silenced_until: string | null;
            ended_at: string | null;
          };
        } };
      };
    };
  };
  "/alarm-rules": {
    get: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              object: "alarm_rule";
              id: string;
              title: string;
              severity: "page" | "ticket";
              reads: string;
              unit: string;
              met_by: "above" | "below";
              enabled: boolean;
              threshold: number;
              default_threshold: number;
              threshold_min: number;
              threshold_max: number;
              run_book: string;
              changed_by: string | null;
              last_reading: {
                at: string;
                value: number | null;
                subject: string | null;
                trouble: string | null;
              } | null;
            })[];
          };
        } };
      };
    };
  };
  "/alarm-rules/{rule}": {
    patch: {
      parameters: {
        path: {
          rule: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          enabled?: boolean;
          threshold?: number | null;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "alarm_rule";
            id: string;
            title: string;
            severity: "page" | "ticket";
            reads: string;
            unit: string;
            met_by: "above" | "below";
            enabled: boolean;
            threshold: number;
            default_threshold: number;
            threshold_min: number;
            threshold_max: number;
            run_book: string;
            changed_by: string | null;
            last_reading: {
              at: string;
              value: number | null;
              subject: string | null;
              trouble: string | null;
            } | null;
          };
        } };
      };
    };
  };
  "/incidents": {
    get: {
      parameters: {
        query?: {
          limit?: number;
          after?: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              object: "incident";
              id: string;
              title: string;
              status: "investigating" | "identified" | "monitoring" | "resolved";
              models: (string)[];
              began_at: string;
              ended_at: string | null;
              updates: ({
                status: "investigating" | "identified" | "monitoring" | "resolved";
                message: string;
                created_at: string;
                created_by: string;
              })[];
            })[];
            has_more: boolean;
            next_cursor: string | null;
          };
        } };
      };
    };
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          title: string;
          message: string;
          status?: "investigating" | "identified" | "monitoring";
          models?: (string)[];
        };
      } };
      responses: {
        201: { content: {
          "application/json": {
            object: "incident";
            id: string;
            title: string;
            status: "investigating" | "identified" | "monitoring" | "resolved";
            models: (string)[];
            began_at: string;
            ended_at: string | null;
            updates: ({
              status: "investigating" | "identified" | "monitoring" | "resolved";
              message: string;
              created_at: string;
              created_by: string;
            })[];
          };
        } };
      };
    };
  };
  "/incidents/{incident_id}": {
    get: {
      parameters: {
        path: {
          incident_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "incident";
            id: string;
            title: string;
            status: "investigating" | "identified" | "monitoring" | "resolved";
            models: (string)[];
            began_at: string;
            ended_at: string | null;
            updates: ({
              status: "investigating" | "identified" | "monitoring" | "resolved";
              message: string;
              created_at: string;
              created_by: string;
            })[];
          };
        } };
      };
    };
  };
  "/incidents/{incident_id}/updates": {
    post: {
      parameters: {
        path: {
          incident_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          status: "investigating" | "identified" | "monitoring" | "resolved";
          message: string;
          title?: string;
          models?: (string)[];
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "incident";
            id: string;
            title: string;
            status: "investigating" | "identified" | "monitoring" | "resolved";
            models: (string)[];
            began_at: string;
            ended_at: string | null;
            updates: ({
              status: "investigating" | "identified" | "monitoring" | "resolved";
              message: string;
              created_at: string;
              created_by: string;
            })[];
          };
        } };
      };
    };
  };
  "/sign-ups": {
    get: {
      parameters: {
        query?: {
          network?: string;
          mail_domain?: string;
          limit?: number;
          after?: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              object: "sign_up";
              id: string;
              created_at: string;
              network: string;
              mail_domain: string;
              account_id: string | null;
              refusal: string | null;
            })[];
            has_more: boolean;
            next_cursor: string | null;
          };
        } };
      };
    };
  };
  "/sign-ups/summary": {
    get: {
      parameters: {
        query: {
          by: "network" | "domain";
          days?: number;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              subject: string;
              opened: number;
              refused: number;
              last_at: string;
            })[];
          };
        } };
      };
    };
  };
  "/accounts/{account_id}/lift-spend-cap": {
    post: {
      parameters: {
        path: {
          account_id: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          reason: string;
        };
      } };
      responses: {
        204: { content?: never };
      };
    };
  };
  "/blocks": {
    get: {
      parameters: {
        query: {
          kind: "network" | "domain" | "mailbox" | "disposable";
          beginning?: string;
          limit?: number;
          after?: string;
        };
        header?: {
          "x-client-request-id"?: string;
        };
      };
      responses: {
        200: { content: {
          "application/json": {
            object: "list";
            data: ({
              object: "block";
              id: string;
              kind: "network" | "domain" | "mailbox" | "disposable";
              subject: string;
              reason: string;
              created_at: string;
              created_by: string;
              ends_at: string | null;
            })[];
            has_more: boolean;
            next_cursor: string | null;
          };
        } };
      };
    };
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          kind: "network" | "domain" | "mailbox" | "disposable";
          subject: string;
          reason: string;
          ends_at?: string;
        };
      } };
      responses: {
        201: { content: {
          "application/json": {
            object: "block";
            id: string;
            kind: "network" | "domain" | "mailbox" | "disposable";
            subject: string;
            reason: string;
            created_at: string;
            created_by: string;
            ends_at: string | null;
          };
        } };
      };
    };
  };
  "/blocks/remove": {
    post: {
      parameters: {
        header?: {
          "x-client-request-id"?: string;
        };
      };
      requestBody: { content: {
        "application/json": {
          kind: "network" | "domain" | "mailbox" | "disposable";
          subject: string;
        };
      } };
      responses: {
        200: { content: {
          "application/json": {
            object: "block";
            id: string;
            kind: "network" | "domain" | "mailbox" | "disposable";
            subject: string;
            reason: string;
            created_at: string;
            created_by: string;
            ends_at: string | null;
          };
        } };
      };
    };
  };
};
