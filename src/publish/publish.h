/* Publish: derived values -> files and tables. Holds no formula: it only formats what derive made.
 *
 * Never sees a device. Standard output carries results; everything else goes to standard error. */
#ifndef IFM_PUBLISH_PUBLISH_H
#define IFM_PUBLISH_PUBLISH_H

#include "base/text.h"
#include "document/document.h"
#include <stdio.h>

enum ifm_format {
    IFM_FORMAT_TABLE = 0,
    IFM_FORMAT_MD,
    IFM_FORMAT_CSV,
    IFM_FORMAT_JSON,
    IFM_FORMAT_JSONL,
    IFM_FORMAT_ELASTIC_KV
};

/* How results are printed. */
struct ifm_table_look {
    enum ifm_format format;
    bool colour, verbose; /* of a table: with rates, ceilings, notes and checklists */
    size_t width;         /* of its lines; 0 = IFM_USUAL_WIDTH */
};
/* One row of every table: the same field names in every format. */
IFM_CHECKED enum ifm_status ifm_publish_table(const struct ifm_publication *publication,
                                              const struct ifm_table_look *look, FILE *out, struct ifm_error *error);
/* What would help, where its condition holds; nothing else. For streams beside a format that has no room for it. */
void ifm_publish_advice(const struct ifm_publication *publication, FILE *out);
/* Write derived.json, verdict.json, metrics.json, the specification's files of the workloads that ran, power.csv and
 * its kin where there are readings of power, trace.json where activity was recorded, gate.md and junit.xml where
 * `gate_files` asks for them or the folder has them, report.csv, report.md, report.html and the manifest, each
 * atomically. */
IFM_CHECKED enum ifm_status ifm_publish_files(const struct ifm_publication *publication, struct ifm_error *error);
/* The texts of gate.md, for a pull request, and of junit.xml, for a pipeline. The run has gates. */
IFM_CHECKED enum ifm_status ifm_publish_gate_md(const struct ifm_publication *publication, struct ifm_arena *arena,
                                                struct ifm_text *out, struct ifm_error *error);
void ifm_publish_gate_junit(const struct ifm_publication *publication, struct ifm_arena *arena, struct ifm_text *out);
enum { IFM_PUBLISHER_SIZE = 96, IFM_OTHERS_SIZE = 320 };
struct ifm_verified {
    bool own;                           /* this very program published the folder */
    bool words;                         /* false: another version did, in other words */
    char publisher[IFM_PUBLISHER_SIZE]; /* the program that published it */
    char left_out[IFM_PUBLISHER_SIZE];  /* its reports that say something else, each behind a comma: not compared */
    char others[IFM_OTHERS_SIZE];       /* files in it that this version does not write; "" = none */
};
/* Compares each published file with what the record gives, and names the first number that differs (file, cell, arm,
 * metric, both values): integers exactly, reals within 1e-12. Where another program published the folder its sentences
 * and reports may be others, and `out` says so. */
IFM_CHECKED enum ifm_status ifm_publish_verify(const struct ifm_publication *publication, struct ifm_verified *out,
                                               struct ifm_error *error);

#endif
