package main

import "fmt"

// helpers are what templates of charts share.
const helpers = `{{- define "chart.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- define "chart.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" -}}
{{- else if contains (include "chart.name" .) .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "chart.name" .) | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- define "chart.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
app.kubernetes.io/name: {{ include "chart.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- with .Values.global.labels }}
{{ toYaml . }}
{{- end }}
{{- end -}}
{{- define "chart.selector" -}}
app.kubernetes.io/name: {{ include "chart.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}
{{- define "chart.image" -}}
{{- $registry := .root.Values.global.imageRegistry -}}
{{- printf "%s/%s:%s" $registry .image.repository (default .root.Chart.AppVersion .image.tag) -}}
{{- end -}}
`

// metadata is the head of each object of a workload.
const metadata = `{{- if .Values.PART.enabled }}
apiVersion: %s
kind: %s
metadata:
  name: {{ include "chart.fullname" . }}-PART
  namespace: {{ .Release.Namespace }}
  labels:
    {{- include "chart.labels" . | nindent 4 }}
    app.kubernetes.io/component: PART
  {{- with .Values.commonAnnotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
`

// partTemplates are the templates of a workload, by kind.
var partTemplates = map[string]string{
	"deployment": object("apps/v1", "Deployment", deployment),
	"service": object("v1", "Service", `spec:
  type: {{ .Values.PART.service.type }}
  ports:
    - {name: http, port: {{ .Values.PART.service.port }}, targetPort: http, protocol: TCP}
  selector:
    {{- include "chart.selector" . | nindent 4 }}
    app.kubernetes.io/component: PART
`),
	"configmap": object("v1", "ConfigMap", `data:
  {{- range $key, $value := .Values.PART.config }}
  {{ $key }}: {{ tpl $value $ | quote }}
  {{- end }}
`),
	"serviceaccount": object("v1", "ServiceAccount", "automountServiceAccountToken: true\n"),
	"role":           object("rbac.authorization.k8s.io/v1", "Role", "rules:\n  {{- toYaml .Values.PART.rules | nindent 2 }}\n"),
	"rolebinding": object("rbac.authorization.k8s.io/v1", "RoleBinding", `roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: {{ include "chart.fullname" . }}-PART
subjects:
  - kind: ServiceAccount
    name: {{ include "chart.fullname" . }}-PART
    namespace: {{ .Release.Namespace }}
`),
}

// object is the template of an object of a workload.
func object(api, kind, rest string) string {
	return fmt.Sprintf(metadata, api, kind) + rest + "{{- end }}\n"
}

const deployment = `spec:
  replicas: {{ .Values.PART.replicas }}
  selector:
    matchLabels:
      {{- include "chart.selector" . | nindent 6 }}
      app.kubernetes.io/component: PART
  template:
    metadata:
      labels:
        {{- include "chart.labels" . | nindent 8 }}
        app.kubernetes.io/component: PART
      annotations:
        checksum/config: {{ include (print $.Template.BasePath "/PART/configmap.yaml") . | sha256sum }}
    spec:
      serviceAccountName: {{ include "chart.fullname" . }}-PART
      securityContext:
        {{- toYaml .Values.PART.podSecurityContext | nindent 8 }}
      containers:
        - name: PART
          image: {{ include "chart.image" (dict "root" . "image" .Values.PART.image) | quote }}
          imagePullPolicy: {{ .Values.PART.image.pullPolicy }}
          {{- with .Values.PART.extraEnv }}
          env:
            {{- tpl (toYaml .) $ | nindent 12 }}
          {{- end }}
          ports:
            - {name: http, containerPort: {{ .Values.PART.service.port }}}
          livenessProbe: {httpGet: {path: /healthz, port: http}, periodSeconds: 10}
          readinessProbe: {httpGet: {path: /readyz, port: http}, periodSeconds: 10}
          resources:
            {{- toYaml .Values.PART.resources | nindent 12 }}
          securityContext:
            {{- toYaml .Values.PART.securityContext | nindent 12 }}
          volumeMounts:
            - {name: config, mountPath: /etc/PART}
      volumes:
        - name: config
          configMap: {name: {{ include "chart.fullname" . }}-PART}
      {{- with .Values.PART.nodeSelector }}
      nodeSelector:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .Values.PART.tolerations }}
      tolerations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .Values.PART.affinity }}
      affinity:
        {{- toYaml . | nindent 8 }}
      {{- end }}
`
