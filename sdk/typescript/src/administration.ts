/** Audit, erasures, keys, tenants and probes: the operations of those who run the service. */

import createClient, { type Client } from "openapi-fetch";

import { type Body, type Query, data } from "./calls.js";
import type { paths } from "./schema.js";
import { type Options, Transport } from "./transport.js";

/** The part of the client that manages the service. */
export class Administration {
  protected readonly transport: Transport;
  protected readonly api: Client<paths>;

  constructor(options: Options = {}) {
    this.transport = new Transport(options);
    const fetch = (request: Request) => this.transport.sendRequest(request);
    this.api = createClient<paths>({ baseUrl: this.transport.server, fetch });
  }

  // Audit

  /** A page of the record of asks, newest first. */
  async listAsks(query: Query<"list_asks"> = {}) {
    return data(await this.api.GET("/v1/audit", { params: { query } }));
  }

  /** The record of an ask. */
  async getAsk(id: string) {
    return data(await this.api.GET("/v1/audit/{id}", { params: { path: { id } } }));
  }

  /** A page of the record of changes and refusals, newest first. */
  async listSecurityEvents(query: Query<"list_security_events"> = {}) {
    return data(await this.api.GET("/v1/security-events", { params: { query } }));
  }

  /** Whether that record is whole. */
  async verifySecurityEvents(query: Query<"verify_security_events"> = {}) {
    return data(await this.api.GET("/v1/security-events/verification", { params: { query } }));
  }

  // Erasures

  /** Deletes documents with every trace of them, and keeps a receipt of what went and what remains. */
  async createErasure(body: Body<"create_erasure">) {
    return data(await this.api.POST("/v1/erasures", { body }));
  }

  /** A page of receipts, newest first. */
  async listErasures(query: Query<"list_erasures"> = {}) {
    return data(await this.api.GET("/v1/erasures", { params: { query } }));
  }

  /** The receipt of an erasure. */
  async getErasure(id: string) {
    return data(await this.api.GET("/v1/erasures/{id}", { params: { path: { id } } }));
  }

  // Keys and tenants

  /** A page of keys, without their secrets. */
  async listKeys(query: Query<"list_keys"> = {}) {
    return data(await this.api.GET("/v1/keys", { params: { query } }));
  }

  /** Creates a key; this is the only time that its secret is shown. */
  async createKey(body: Body<"create_key">) {
    return data(await this.api.POST("/v1/keys", { body }));
  }

  /** A key, without its secret. */
  async getKey(id: string) {
    return data(await this.api.GET("/v1/keys/{id}", { params: { path: { id } } }));
  }

  /** Gives a key another secret; the old one is valid for a time of grace. */
  async rotateKey(id: string, body: Body<"rotate_key"> = {}) {
    return data(await this.api.POST("/v1/keys/{id}/rotate", { params: { path: { id } }, body }));
  }

  /** Revokes a key. */
  async revokeKey(id: string) {
    return data(await this.api.DELETE("/v1/keys/{id}", { params: { path: { id } } }));
  }

  /** The secret by which the receiver at this URL checks webhooks. */
  async getWebhookSecret(query: Query<"get_webhook_secret">) {
    return data(await this.api.GET("/v1/webhooks/secret", { params: { query } }));
  }

  /** How much the tenant keeps, and how much it may. */
  async getStorage() {
    return data(await this.api.GET("/v1/storage"));
  }

  /** The tenants, for the operator. */
  async listTenants() {
    return data(await this.api.GET("/v1/tenants"));
  }

  /** Creates a tenant, for the operator. */
  async createTenant(body: Body<"create_tenant">) {
    return data(await this.api.POST("/v1/tenants", { body }));
  }

  /** A tenant with how much it keeps and may keep, for the operator. */
  async getTenant(id: string) {
    return data(await this.api.GET("/v1/tenants/{id}", { params: { path: { id } } }));
  }

  /** Sets how much a tenant may keep, for the operator. */
  async updateTenant(id: string, body: Body<"update_tenant">) {
    return data(await this.api.PATCH("/v1/tenants/{id}", { params: { path: { id } }, body }));
  }

  /** Deletes a tenant with everything in it, for the operator. */
  async deleteTenant(id: string) {
    return data(await this.api.DELETE("/v1/tenants/{id}", { params: { path: { id } } }));
  }

  /** Creates a key of a tenant, for the operator. */
  async createTenantKey(id: string, body: Body<"create_tenant_key">) {
    return data(await this.api.POST("/v1/tenants/{id}/keys", { params: { path: { id } }, body }));
  }

  // Operations

  /** Whether the process runs. */
  async livez() {
    return data(await this.api.GET("/livez"));
  }

  /** Whether requests can be served. */
  async readyz() {
    return data(await this.api.GET("/readyz"));
  }

  /** The metrics in the text format of Prometheus, for the operator. */
  async getMetrics(): Promise<string> {
    return data(await this.api.GET("/metrics", { parseAs: "text" }));
  }
}
